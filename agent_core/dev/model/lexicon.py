"""A small dictionary of everyday ideas, English and Chinese, so that a Chinese question meets an English description.

It is about language, not about any skill: words on one line are taken for one idea.
"""

_IDEAS = """
calculate compute evaluate arithmetic math mathematical calculation sum 计算 算出 算算 算一下 算 运算 算术 数学 求值
time clock 时间 几点 钟点 时刻
date day 日期 哪天 几号
weekday 星期几 周几 礼拜几
current now present 现在 当前 目前 此刻 眼下
zone timezone 时区
convert conversion converter exchange turn transform 转换 换算 换成 转成 转为 折合 兑换
unit measure measurement quantity 单位 计量
search find look seek lookup grep 搜索 查找 查询 检索 找出 找 搜
log logging logfile 日志 记录
error failure exception fault 错误 报错 异常 故障
warning warn 警告 告警
file document 文件 文档
check inspect examine verify analyse analyze diagnose audit 检查 检测 核对 查看 分析 诊断
system machine host server node computer 系统 主机 机器 服务器 节点 电脑
overview status health doing summary state 概况 概览 状态 状况 总览 健康 怎么样 情况
disk drive storage filesystem 磁盘 硬盘 存储
space capacity free left 空间 剩余 容量
usage utilisation utilization use load busy 使用率 占用 使用 负载 用量 使用情况
process program task 进程 程序
cpu processor 处理器
memory ram 内存
top most highest biggest busiest 最高 最多 占用最多 排名
weather forecast temperature rain sunny rainy snow wind climate 天气 气温 下雨 预报
book reserve reservation booking 预订 预定 预约 订
room meeting conference 房间 会议室 会议
order buy purchase 点餐 下单 购买 订购 买 来一份 点
pizza 比萨 披萨
translate translation translator 翻译 译成 译
language 语言
text sentence phrase 文本 句子
send deliver dispatch 发送 发给 寄 发
mail email 邮件 电子邮件
message sms chat 消息 短信 信息
restart reboot 重启 重新启动
start begin launch 启动 开始 开启
stop halt end terminate shutdown 停止 关闭 结束
delete remove erase drop 删除 移除 清除
create add make new 创建 新建 添加 新增 建立
update change modify edit set 更新 修改 更改 设置
list show display 列出 显示 列表 展示
count number 数量 多少个 个数 统计
name 名字 名称 姓名
user account person customer client 用户 账户 账号 客户
remind reminder alarm 提醒 闹钟
note memo 笔记 备忘
play music song 播放 音乐 歌曲
price cost 价格 多少钱 费用
stock share 股票 股价
news headline 新闻 头条
map route direction navigate 地图 路线 导航
distance far 距离 多远
flight plane 航班 飞机
hotel 酒店 旅馆
train 火车 列车
restaurant food 餐厅 餐馆 饭店 美食
light lamp 灯 灯光
network internet connection 网络 联网
image picture photo 图片 照片 图像
random 随机
ticket issue 工单 票
deploy release rollout 部署 发布
database sql 数据库
password 密码
summarize summarise summarisation summarization 总结 摘要 概括
city town place location 城市 地点 地方
country nation 国家
length 长度
weight mass 重量 质量
relative ago later before after 之前 以前 之后 以后 前 后
resolve exact exactly 解析 具体 确切
small little 小号 小份
medium 中号 中份
large big 大号 大份
service 服务
port 端口
average mean 平均 平均数 平均值 均值
median 中位数
deviation variance spread 标准差 方差
maximum largest 最大值 最大
minimum smallest 最小值 最小
uptime 运行多久 运行了多久 运行时间 开机多久
temperature_scale celsius fahrenheit 摄氏 华氏
"""


def _read() -> dict[str, str]:
    ideas: dict[str, str] = {}
    for line in _IDEAS.strip().splitlines():
        first, *others = line.split()
        for word in (first, *others):
            ideas.setdefault(word, "=" + first)
    return ideas


IDEAS = _read()
HAN_WORDS = tuple(sorted((w for w in IDEAS if not w.isascii()), key=len, reverse=True))

# Whole phrases whose sense their words do not carry.
PHRASES: dict[str, str] = {
    "what time is it": "current time",
    "today's date": "current date",
    "what day is it": "current weekday",
    "day of the week": "weekday",
    "when is": "time",
    "when was": "time",
    "when will": "time",
    "什么时候": "时间",
    "几点了": "当前 时间",
    "几点钟": "当前 时间",
    "look for": "search",
    "look up": "search",
    "look at": "check",
    "how much is": "calculate",
    "how many": "count",
    "多少条": "数量",
    "how far": "distance",
    "running": "process",
    "多少钱": "价格",
    "是多少": "",
}

_STOP = """
a an the and or but if of in on at to for from by with about as into is are was were be been being am do does did
done can could would should will shall may might must have has had having i you he she it we they me him her us them
my your his its our their this that these those there here what which who whom whose when where why how please tell
give get let want need like just also then than so not no yes any some all each every much many more one ones such
very too only via per etc e.g i.e eg ie example s t re ll ve d don doesn isn hello hi hey thanks thank ok okay
without within between through before after during while because until against out up down off over under again
unlike return returns returned given value values string parameter argument optional required default result
results say says said thing things something anything whether other another same both few own using
"""
STOP_WORDS = frozenset(_STOP.split())
HAN_STOP = frozenset(
    "的了吗呢啊吧是在我你他她它们请问一下把将给和与及或者那这个有没不要想能可以帮看也都就还再里上中么什哪来份号个"
)
