"""Names that people use for time zones and that the IANA database does not: cities, countries, abbreviations, Chinese.

Names of the database itself ("Tokyo", "New York", "Asia/Tokyo") need no entry here.
"""

from typing import Final

# zone: names, lower case, without spaces, dots and hyphens
_NAMES: Final[dict[str, str]] = {
    "UTC": "utc gmt z zulu 协调世界时 世界时 格林尼治 格林威治",
    "Asia/Shanghai": "beijing peking shenzhen guangzhou hangzhou nanjing chengdu wuhan tianjin xian suzhou xiamen "
    "china prc 北京 上海 深圳 广州 杭州 南京 成都 武汉 天津 重庆 西安 苏州 厦门 青岛 长沙 郑州 大连 中国 中国大陆",
    "Asia/Urumqi": "乌鲁木齐 新疆",
    "Asia/Hong_Kong": "hkt 香港",
    "Asia/Macau": "macao 澳门",
    "Asia/Taipei": "taiwan 台北 台湾",
    "Asia/Tokyo": "japan jst osaka kyoto nagoya yokohama sapporo fukuoka 东京 東京 大阪 京都 名古屋 横滨 日本",
    "Asia/Seoul": "korea southkorea kst busan 首尔 釜山 韩国",
    "Asia/Pyongyang": "northkorea 平壤 朝鲜",
    "Asia/Singapore": "sgt 新加坡",
    "Asia/Kuala_Lumpur": "malaysia 吉隆坡 马来西亚",
    "Asia/Bangkok": "thailand 曼谷 泰国",
    "Asia/Ho_Chi_Minh": "saigon hanoi vietnam 胡志明市 河内 越南",
    "Asia/Jakarta": "雅加达",
    "Asia/Manila": "philippines 马尼拉 菲律宾",
    "Asia/Kolkata": "india mumbai bombay delhi newdelhi bangalore bengaluru chennai hyderabad pune "
    "印度 孟买 新德里 班加罗尔 加尔各答",
    "Asia/Karachi": "pakistan islamabad lahore 卡拉奇 巴基斯坦",
    "Asia/Dhaka": "bangladesh 达卡 孟加拉国",
    "Asia/Kathmandu": "nepal 加德满都 尼泊尔",
    "Asia/Colombo": "srilanka 科伦坡",
    "Asia/Dubai": "uae abudhabi 迪拜 阿布扎比 阿联酋",
    "Asia/Riyadh": "saudiarabia jeddah mecca 利雅得 沙特",
    "Asia/Tehran": "iran 德黑兰 伊朗",
    "Asia/Jerusalem": "israel telaviv 耶路撒冷 特拉维夫 以色列",
    "Europe/Istanbul": "turkey türkiye ankara 伊斯坦布尔 土耳其",
    "Europe/Moscow": "msk stpetersburg saintpetersburg 莫斯科 圣彼得堡",
    "Europe/Kyiv": "ukraine kiev 基辅 乌克兰",
    "Europe/London": "uk unitedkingdom greatbritain britain england scotland edinburgh manchester bst 伦敦 英国 爱丁堡 "
    "曼彻斯特",
    "Europe/Dublin": "ireland 都柏林 爱尔兰",
    "Europe/Paris": "france cet cest lyon nice 巴黎 法国",
    "Europe/Berlin": "germany munich münchen muenchen frankfurt hamburg cologne köln stuttgart "
    "柏林 慕尼黑 法兰克福 汉堡 德国",
    "Europe/Zurich": "switzerland geneva bern basel zürich 苏黎世 日内瓦 瑞士",
    "Europe/Vienna": "austria wien 维也纳 奥地利",
    "Europe/Rome": "italy milan milano florence venice naples 罗马 米兰 威尼斯 意大利",
    "Europe/Madrid": "barcelona seville valencia 马德里 巴塞罗那 西班牙",
    "Europe/Lisbon": "里斯本 葡萄牙",
    "Europe/Amsterdam": "netherlands holland rotterdam thehague 阿姆斯特丹 荷兰",
    "Europe/Brussels": "belgium 布鲁塞尔 比利时",
    "Europe/Copenhagen": "denmark 哥本哈根 丹麦",
    "Europe/Stockholm": "sweden 斯德哥尔摩 瑞典",
    "Europe/Oslo": "norway 奥斯陆 挪威",
    "Europe/Helsinki": "finland eet eest 赫尔辛基 芬兰",
    "Europe/Warsaw": "poland krakow 华沙 波兰",
    "Europe/Prague": "czechia czechrepublic 布拉格 捷克",
    "Europe/Budapest": "hungary 布达佩斯 匈牙利",
    "Europe/Athens": "greece 雅典 希腊",
    "Africa/Cairo": "egypt 开罗 埃及",
    "Africa/Johannesburg": "southafrica capetown 约翰内斯堡 开普敦 南非",
    "Africa/Lagos": "nigeria abuja 拉各斯 尼日利亚",
    "Africa/Nairobi": "kenya 内罗毕 肯尼亚",
    "America/New_York": "newyorkcity nyc boston washington washingtondc miami atlanta philadelphia orlando "
    "et est edt eastern easterntime 纽约 波士顿 华盛顿 迈阿密 亚特兰大 费城 美东 美国东部",
    "America/Chicago": "houston dallas austin neworleans sanantonio nashville ct cdt central centraltime "
    "芝加哥 休斯敦 休斯顿 达拉斯 美中 美国中部",
    "America/Denver": "mt mdt mst mountain mountaintime saltlakecity 丹佛 盐湖城 美国山区",
    "America/Los_Angeles": "la sanfrancisco sf seattle sandiego lasvegas siliconvalley sanjose portland pt pst pdt "
    "pacific pacifictime 洛杉矶 旧金山 西雅图 圣地亚哥 拉斯维加斯 硅谷 美西 美国西部",
    "America/Phoenix": "arizona 凤凰城",
    "America/Anchorage": "alaska 安克雷奇",
    "Pacific/Honolulu": "hawaii 檀香山 夏威夷",
    "America/Toronto": "ottawa montreal montréal 多伦多 渥太华 蒙特利尔",
    "America/Vancouver": "温哥华",
    "America/Mexico_City": "墨西哥城 墨西哥",
    "America/Sao_Paulo": "riodejaneiro rio brasilia 圣保罗 里约热内卢 巴西",
    "America/Argentina/Buenos_Aires": "argentina 布宜诺斯艾利斯 阿根廷",
    "America/Santiago": "智利",
    "America/Bogota": "colombia 波哥大 哥伦比亚",
    "America/Lima": "peru 利马 秘鲁",
    "Australia/Sydney": "canberra aest aedt 悉尼 堪培拉",
    "Australia/Melbourne": "墨尔本",
    "Australia/Brisbane": "布里斯班",
    "Australia/Perth": "珀斯",
    "Pacific/Auckland": "newzealand wellington nzst nzdt 奥克兰 惠灵顿 新西兰",
}
PLACES: Final[dict[str, str]] = {name: zone for zone, names in _NAMES.items() for name in names.split()}

# names that mean several zones: what to write instead
AMBIGUOUS: Final[dict[str, str]] = {
    "cst": "America/Chicago (US Central) or Asia/Shanghai (China)",
    "ist": "Asia/Kolkata (India), Europe/Dublin (Ireland) or Asia/Jerusalem (Israel)",
    "ast": "America/Halifax (Atlantic) or Asia/Riyadh (Arabia)",
    "usa": "America/New_York, America/Chicago, America/Denver or America/Los_Angeles",
    "us": "America/New_York, America/Chicago, America/Denver or America/Los_Angeles",
    "unitedstates": "America/New_York, America/Chicago, America/Denver or America/Los_Angeles",
    "美国": "America/New_York, America/Chicago, America/Denver or America/Los_Angeles",
    "canada": "America/Toronto, America/Winnipeg, America/Edmonton or America/Vancouver",
    "加拿大": "America/Toronto, America/Winnipeg, America/Edmonton or America/Vancouver",
    "australia": "Australia/Sydney, Australia/Brisbane, Australia/Adelaide or Australia/Perth",
    "澳大利亚": "Australia/Sydney, Australia/Brisbane, Australia/Adelaide or Australia/Perth",
    "russia": "Europe/Moscow, Asia/Yekaterinburg or Asia/Vladivostok",
    "俄罗斯": "Europe/Moscow, Asia/Yekaterinburg or Asia/Vladivostok",
    "brazil": "America/Sao_Paulo or America/Manaus",
    "mexico": "America/Mexico_City or America/Tijuana",
    "spain": "Europe/Madrid or Atlantic/Canary",
    "portugal": "Europe/Lisbon or Atlantic/Azores",
    "indonesia": "Asia/Jakarta, Asia/Makassar or Asia/Jayapura",
}
