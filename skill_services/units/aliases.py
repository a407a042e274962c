"""What people call units and pint does not, in English and Chinese, to pint's names."""

from typing import Final

# pint's name: what people write, lower case; words are separated by spaces, so an underscore stands for a space
_NAMES: Final[dict[str, str]] = {
    # length
    "kilometer": "kms 公里 千米",
    "meter": "metres metre 米 公尺",
    "centimeter": "cms 厘米 公分",
    "millimeter": "毫米",
    "decimeter": "分米",
    "micrometer": "微米",
    "nanometer": "纳米",
    "mile": "mi 英里 哩",
    "foot": "英尺 呎 ′ '",
    "inch": "in ins 英寸 吋 ″ 寸_(英)",
    "yard": "yd yds 码",
    "nautical_mile": "nm_(nautical) nautical_miles 海里 浬",
    "light_year": "lightyear lightyears 光年",
    "astronomical_unit": "天文单位",
    "chinese_li": "li 里 市里 华里",
    "chinese_zhang": "zhang 丈",
    "chinese_chi": "chi 尺 市尺",
    "chinese_cun": "cun 寸",
    # mass
    "kilogram": "kgs kilo kilos 公斤 千克",
    "gram": "gr gms 克",
    "milligram": "毫克",
    "microgram": "mcg 微克",
    "metric_ton": "tonnes mt 吨 公吨",
    "short_ton": "us_ton 短吨",
    "long_ton": "imperial_ton 长吨",
    "pound": "lbs. 磅 英磅",
    "ounce": "ozs 盎司",
    "stone": "stones 英石",
    "carat": "ct 克拉",
    "chinese_jin": "jin catty 斤 市斤",
    "chinese_liang": "liang tael 两",
    # temperature
    "degree_Celsius": "celsius centigrade degrees_celsius degree_celsius deg_c degc ℃ °c 摄氏 摄氏度 度_(摄氏)",
    "degree_Fahrenheit": "fahrenheit degrees_fahrenheit degree_fahrenheit deg_f degf ℉ °f 华氏 华氏度",
    "kelvin": "kelvins °k 开尔文 开氏度 开",
    # area and volume
    "hectare": "公顷",
    "acre": "英亩",
    "are": "公亩",
    "chinese_mu": "mu 亩 市亩",
    "liter": "lt litres litre ltr 升 公升",
    "milliliter": "mls 毫升",
    "gallon": "us_gallon us_gallons gal 加仑 美制加仑",
    "imperial_gallon": "uk_gallon uk_gallons imperial_gallons 英制加仑",
    "fluid_ounce": "fl_oz fl._oz. floz 液盎司 液体盎司",
    "cup": "杯 cups",
    "pint": "pt 品脱",
    "quart": "qt 夸脱",
    "barrel": "",
    "oil_barrel": "bbl 桶",
    "tablespoon": "汤匙",
    "teaspoon": "茶匙",
    # time
    "second": "sec secs 秒",
    "minute": "mins 分钟 分",
    "hour": "hrs 小时 钟头",
    "day": "天 日",
    "week": "wk wks 周 星期",
    "month": "个月 月",
    "year": "yr yrs 年",
    "millisecond": "msec 毫秒",
    "microsecond": "微秒",
    "nanosecond": "纳秒",
    # speed
    "kilometer_per_hour": "kmh kmph kph 时速 迈_(公里)",
    "mile_per_hour": "mph 迈",
    "knot": "kn kt kts knots 节",
    # energy, power, force, pressure
    "joule": "焦 焦耳",
    "kilojoule": "千焦",
    "megajoule": "兆焦",
    "calorie": "卡 卡路里",
    "kilocalorie": "kcals 千卡 大卡 food_calorie food_calories",
    "kilowatt_hour": "kwh kilowatt_hours kilowatt-hours 千瓦时 度电 度_(电)",
    "watt_hour": "wh 瓦时",
    "british_thermal_unit": "btu btus",
    "watt": "瓦 瓦特",
    "kilowatt": "kw 千瓦",
    "megawatt": "兆瓦",
    "horsepower": "英制马力",
    "metric_horsepower": "ps cv 马力 公制马力",
    "newton": "牛 牛顿",
    "pascal": "帕 帕斯卡",
    "kilopascal": "千帕",
    "megapascal": "兆帕",
    "hectopascal": "百帕",
    "bar": "巴",
    "standard_atmosphere": "atmosphere atmospheres 大气压 标准大气压",
    "millimeter_Hg": "mmhg 毫米汞柱",
    "pound_force_per_square_inch": "psi",
    "hertz": "赫兹 赫",
    "volt": "伏 伏特",
    "ampere": "amp amps 安 安培",
    "ohm": "欧姆",
    "degree": "° deg degs 度 角度",
    "radian": "弧度",
    "revolutions_per_minute": "rpm 转每分 转/分",
    "percent": "% 百分比",
    # information
    "bit": "比特 位",
    "byte": "b_(byte) 字节",
    "kilobyte": "kb kbs 千字节",
    "megabyte": "mb mbs 兆字节 兆",
    "gigabyte": "gb gbs 吉字节",
    "terabyte": "tb tbs 太字节",
    "petabyte": "pb",
    "kibibyte": "kib",
    "mebibyte": "mib",
    "gibibyte": "gib",
    "tebibyte": "tib",
    "kilobit": "kbit",
    "megabit": "mbit",
    "gigabit": "gbit",
    "kilobit / second": "kbps",
    "megabit / second": "mbps 兆比特每秒",
    "gigabit / second": "gbps",
    # fuel
    "mile_per_gallon": "mpg miles_per_gallon 英里每加仑",
    "liter_per_hectokilometer": "l/100km l/100_km l_per_100_km "
    "liters_per_100_km litres_per_100_km liter_per_100_km 升/100公里 升每百公里 百公里油耗",
}
ALIASES: Final[dict[str, str]] = {
    name.replace("_", " "): unit for unit, names in _NAMES.items() for name in names.split()
}

# where the case of a letter decides and pint means something that people do not
EXACT: Final[dict[str, str]] = {
    "Mb": "megabit",
    "Kb": "kilobit",
    "kb": "kilobit",
    "Gb": "gigabit",
    "Tb": "terabit",
    "Cal": "kilocalorie",
    "B": "byte",
    "b": "bit",
    "M": "meter",
}

# a letter that is a temperature wherever the other unit is one
TEMPERATURE_LETTERS: Final = {"c": "degree_Celsius", "f": "degree_Fahrenheit", "k": "kelvin"}
TEMPERATURES: Final = frozenset(("degree_Celsius", "degree_Fahrenheit", "kelvin", "degree_Rankine", "degree_Reaumur"))

_MONEY: Final = (
    "usd eur gbp jpy cny rmb hkd krw inr chf cad aud dollar dollars euro euros yen yuan renminbi rupee rupees "
    "bitcoin btc $ € £ ¥ 元 美元 人民币 欧元 英镑 日元 港币 韩元 卢比"
)
CURRENCIES: Final = frozenset(_MONEY.split())

# said beside a result, as the word has another meaning elsewhere
NOTES: Final[dict[str, str]] = {
    "ton": "ton is read as the US short ton (2,000 lb); write tonne for the metric ton.",
    "gallon": "gallon is read as the US gallon; write imperial gallon for the British one.",
    "pint": "pint is read as the US pint.",
    "quart": "quart is read as the US quart.",
    "cup": "cup is read as the US cup (236.6 mL).",
    "fluid_ounce": "fluid ounce is read as the US one.",
    "calorie": "calorie is the small calorie (4.184 J); a food calorie is a kilocalorie.",
    "horsepower": "horsepower is the mechanical one (745.7 W); write metric_horsepower for 735.5 W.",
    "month": "month is read as a twelfth of 365.25 days.",
    "year": "year is read as 365.25 days.",
    "degree": "degree is read as an angle; write celsius or fahrenheit for a temperature.",
    "mile_per_gallon": "gallon is read as the US gallon.",
}
