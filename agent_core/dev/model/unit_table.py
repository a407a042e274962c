"""Units and currencies: how each is spelled, in English and Chinese."""

# One unit a line: the name that programs know, then its spellings; a hyphen stands for a blank.
_TABLE = """
meter: m meter meters metre metres 米 公尺
kilometer: km kilometer kilometers kilometre kilometres 公里 千米
centimeter: cm centimeter centimeters centimetre centimetres 厘米 公分
micrometer: um micrometer micrometers micron microns 微米
millimeter: mm millimeter millimeters millimetre millimetres 毫米
nanometer: nm nanometer nanometers 纳米
mile: mi mile miles 英里
yard: yd yard yards 码
foot: ft foot feet 英尺
inch: inch inches 英寸
nautical_mile: nmi nautical_mile nautical_miles 海里 nautical-mile nautical-miles
light_year: ly light_year light_years 光年 light-year light-years
gram: g gram grams gramme grammes 克
jin: 斤 市斤
kilogram: kg kilo kilos kilogram kilograms 公斤 千克
milligram: mg milligram milligrams 毫克
pound: lb lbs pound pounds 磅
ounce: oz ounce ounces 盎司
stone: stone stones 英石
metric_ton: tonne tonnes 吨 公吨 metric-tons
ton: ton tons
liter: l liter liters litre litres 升 公升
milliliter: ml milliliter milliliters millilitre millilitres 毫升
gallon: gal gallon gallons 加仑
pint: pint pints 品脱
quart: quart quarts 夸脱
cup: cup cups
teaspoon: tsp teaspoon teaspoons
tablespoon: tbsp tablespoon tablespoons
cubic_meter: m3 m³ 立方米 cubic-meters
celsius: °c ℃ celsius centigrade degc 摄氏度 摄氏 degrees-celsius degree-celsius degrees-c
fahrenheit: °f ℉ fahrenheit degf 华氏度 华氏 degrees-fahrenheit degree-fahrenheit degrees-f
kelvin: k kelvin kelvins 开尔文
second: s sec secs second seconds 秒 秒钟
minute: min mins minute minutes 分钟
hour: h hr hrs hour hours 小时
day: day days 天
week: week weeks 周 星期
year: year years 年
month: month months 个月
millisecond: ms millisecond milliseconds 毫秒
bit: bit bits 比特
byte: b byte bytes 字节
kilobyte: kb kilobyte kilobytes
megabyte: mb megabyte megabytes 兆
gigabyte: gb gigabyte gigabytes
terabyte: tb terabyte terabytes
kibibyte: kib kibibytes
mebibyte: mib mebibytes
gibibyte: gib gibibytes
kilometer_per_hour: km/h kph kmh 公里每小时 千米每小时 kilometers-per-hour
mile_per_hour: mph 英里每小时 miles-per-hour
meter_per_second: m/s 米每秒 meters-per-second
knot: knot knots
joule: j joule joules 焦耳 焦
kilojoule: kj kilojoule kilojoules 千焦
calorie: cal calorie calories 卡路里
kilocalorie: kcal kilocalorie kilocalories 千卡 大卡
watt: w watt watts 瓦
kilowatt: kw kilowatt kilowatts 千瓦
kilowatt_hour: kwh 千瓦时 度电
horsepower: hp horsepower 马力
pascal: pa pascal pascals 帕
kilopascal: kpa 千帕
bar: bar bars
psi: psi
atmosphere: atm atmosphere atmospheres 大气压
hectare: ha hectare hectares 公顷
acre: acre acres 英亩
square_meter: m2 m² sqm 平方米 square-meters square-metres
square_kilometer: km2 km² 平方公里 square-kilometers
square_foot: sqft 平方英尺 square-feet square-foot
degree: degree degrees
radian: rad radian radians 弧度
hertz: hz hertz 赫兹
volt: v volt volts 伏
ampere: amp amps ampere amperes 安培
newton: newton newtons 牛顿
USD: usd dollar dollars us$ 美元 us-dollars
EUR: eur euro euros € 欧元
GBP: gbp sterling £ 英镑
CNY: cny rmb yuan 人民币
JPY: jpy yen 日元
"""


def _read() -> dict[str, str]:
    rows = (line.partition(": ") for line in _TABLE.strip().splitlines())
    return {spelling.replace("-", " "): name for name, _, spellings in rows for spelling in spellings.split()}


CANONICAL = _read()  # spelling in lower case -> name


def spelled(unit: str) -> str:
    """As written where a program would know the spelling; else the name of the unit."""
    plain = unit.isascii() and " " not in unit and "$" not in unit
    return unit if plain else CANONICAL.get(unit.lower(), unit)
