"""Places that IANA time zone names do not spell, in English and Chinese."""

# One zone a line, then its cities, countries and abbreviations; an underscore stands for a blank.
_TABLE = """
Asia/Shanghai: beijing shenzhen guangzhou hangzhou chengdu wuhan nanjing xiamen china 北京 上海 深圳 广州 杭州 成都
Asia/Shanghai: 武汉 南京 西安 天津 中国
Asia/Tokyo: osaka kyoto japan jst 东京 大阪 京都 日本 東京
Asia/Seoul: korea south_korea busan kst 首尔 韩国 釜山
Asia/Hong_Kong: 香港
Asia/Taipei: taiwan 台北 臺北
Asia/Singapore: 新加坡
Asia/Bangkok: thailand 曼谷 泰国
Asia/Ho_Chi_Minh: hanoi vietnam 河内 胡志明市
Asia/Jakarta: indonesia 雅加达
Asia/Manila: 马尼拉
Asia/Kolkata: india mumbai delhi new_delhi bangalore bengaluru chennai hyderabad ist 印度 孟买 新德里 班加罗尔
Asia/Dubai: abu_dhabi 迪拜
Asia/Jerusalem: israel tel_aviv 耶路撒冷
Europe/London: uk england britain edinburgh manchester bst 伦敦 英国 倫敦
Europe/Paris: france lyon cet cest 巴黎 法国
Europe/Berlin: germany munich frankfurt hamburg cologne 柏林 德国 慕尼黑 法兰克福 汉堡
Europe/Madrid: spain barcelona 马德里 巴塞罗那 西班牙
Europe/Rome: italy milan venice naples 罗马 米兰 意大利
Europe/Zurich: switzerland geneva bern basel 苏黎世 日内瓦 瑞士
Europe/Amsterdam: netherlands rotterdam 阿姆斯特丹 荷兰
Europe/Vienna: austria 维也纳 奥地利
Europe/Moscow: russia 莫斯科 俄罗斯
Europe/Stockholm: sweden 斯德哥尔摩 瑞典
Europe/Oslo: norway 奥斯陆 挪威
Europe/Copenhagen: denmark 哥本哈根 丹麦
Europe/Helsinki: finland 赫尔辛基 芬兰
Europe/Dublin: ireland 都柏林
Europe/Istanbul: ankara 伊斯坦布尔
Europe/Athens: greece 雅典 希腊
Europe/Lisbon: portugal 里斯本
Europe/Warsaw: krakow poland 华沙 波兰
Europe/Prague: czechia 布拉格
Europe/Brussels: belgium 布鲁塞尔
Europe/Kyiv: ukraine kiev 基辅
Africa/Cairo: egypt 开罗 埃及
Africa/Johannesburg: cape_town south_africa 约翰内斯堡 开普敦
Africa/Nairobi: kenya 内罗毕
Africa/Lagos: nigeria 拉各斯
America/New_York: nyc boston washington washington_dc miami atlanta philadelphia est edt 纽约 波士顿 华盛顿 迈阿密
America/Chicago: houston dallas austin cst cdt 芝加哥 休斯顿 达拉斯
America/Denver: salt_lake_city mst 丹佛
America/Los_Angeles: san_francisco seattle san_diego las_vegas california pst pdt 洛杉矶 旧金山 西雅图 圣地亚哥
America/Toronto: ottawa 多伦多 渥太华
America/Vancouver: 温哥华
America/Mexico_City: 墨西哥城
America/Sao_Paulo: são_paulo rio rio_de_janeiro brazil brasilia 圣保罗 里约热内卢 巴西
America/Argentina/Buenos_Aires: argentina 布宜诺斯艾利斯
Australia/Sydney: canberra 悉尼 堪培拉
Australia/Melbourne: 墨尔本
Australia/Brisbane: 布里斯班
Australia/Perth: 珀斯
Pacific/Auckland: wellington new_zealand 奥克兰 新西兰
Pacific/Honolulu: hawaii 檀香山 夏威夷
UTC: gmt 协调世界时 格林尼治
"""


def _read() -> dict[str, str]:
    rows = (line.partition(": ") for line in _TABLE.strip().splitlines())
    return {place: zone for zone, _, places in rows for place in places.split()}


ZONES = _read()  # place in lower case -> IANA zone
