"""Chinese variants: maps common traditional characters to simplified ones, one to one.

Used mainly for lookups: stored text keeps its original characters. Knows no words.
"""

from collections.abc import Mapping
from typing import Final

_VARIANT_PAIRS: Final = (
    "後后 隻只 衹只 擺摆 繳缴 簽签 籤签 彙汇 鬥斗 鬍胡 麵面 佈布 佔占 併并 儘尽 僱雇 愛爱 罷罢 "
    "備备 報报 貝贝 筆笔 畢毕 閉闭 邊边 變变 標标 別别 並并 補补 纔才 財财 參参 倉仓 測测 層层 "
    "產产 嘗尝 長长 場场 廠厂 車车 陳陈 稱称 誠诚 遲迟 衝冲 蟲虫 醜丑 礎础 處处 傳传 創创 純纯 "
    "詞词 從从 錯错 達达 帶带 單单 擔担 膽胆 當当 黨党 導导 燈灯 敵敌 遞递 點点 電电 調调 頂顶 "
    "訂订 東东 動动 凍冻 讀读 獨独 賭赌 斷断 隊队 對对 頓顿 奪夺 額额 噁恶 惡恶 兒儿 爾尔 發发 "
    "髮发 罰罚 煩烦 飯饭 訪访 飛飞 廢废 費费 墳坟 憤愤 豐丰 風风 瘋疯 婦妇 負负 復复 複复 該该 "
    "蓋盖 趕赶 幹干 乾干 剛刚 崗岗 鋼钢 個个 給给 貢贡 溝沟 構构 購购 夠够 顧顾 掛挂 關关 觀观 "
    "館馆 慣惯 廣广 規规 歸归 貴贵 過过 國国 還还 漢汉 號号 護护 華华 話话 畫画 劃划 懷怀 壞坏 "
    "歡欢 環环 換换 黃黄 揮挥 會会 匯汇 夥伙 獲获 禍祸 機机 積积 擊击 際际 計计 記记 紀纪 濟济 "
    "繼继 級级 極极 幾几 價价 駕驾 間间 堅坚 檢检 簡简 見见 減减 鑑鉴 將将 獎奖 講讲 醬酱 膠胶 "
    "腳脚 覺觉 較较 節节 結结 潔洁 傑杰 緊紧 盡尽 進进 勁劲 經经 驚惊 鏡镜 靜静 競竞 糾纠 舊旧 "
    "舉举 據据 劇剧 絕绝 軍军 開开 凱凯 課课 墾垦 褲裤 誇夸 塊块 寬宽 虧亏 來来 賴赖 蘭兰 藍蓝 "
    "懶懒 爛烂 勞劳 樂乐 淚泪 類类 離离 禮礼 裡里 裏里 歷历 曆历 麗丽 勵励 聯联 連连 憐怜 臉脸 "
    "練练 戀恋 糧粮 兩两 諒谅 療疗 遼辽 獵猎 臨临 鄰邻 靈灵 領领 劉刘 龍龙 樓楼 錄录 陸陆 亂乱 "
    "輪轮 論论 羅罗 囉啰 媽妈 馬马 嗎吗 買买 賣卖 滿满 貓猫 麼么 嚒么 門门 們们 夢梦 彌弥 廟庙 "
    "滅灭 鳴鸣 謬谬 畝亩 納纳 難难 惱恼 腦脑 鬧闹 內内 擬拟 膩腻 鳥鸟 寧宁 濃浓 農农 諾诺 歐欧 "
    "盤盘 賠赔 噴喷 騙骗 貧贫 評评 憑凭 潑泼 撲扑 齊齐 騎骑 啟启 啓启 氣气 棄弃 遷迁 錢钱 牆墙 "
    "搶抢 僑侨 橋桥 親亲 輕轻 傾倾 請请 慶庆 窮穷 區区 軀躯 趨趋 勸劝 確确 讓让 擾扰 熱热 認认 "
    "榮荣 軟软 灑洒 傘伞 喪丧 掃扫 殺杀 曬晒 刪删 閃闪 傷伤 賞赏 燒烧 紹绍 設设 攝摄 誰谁 嬸婶 "
    "審审 聲声 勝胜 師师 詩诗 時时 識识 實实 適适 釋释 視视 試试 飾饰 壽寿 輸输 書书 屬属 術术 "
    "樹树 數数 雙双 說说 説说 絲丝 鬆松 訴诉 蘇苏 雖虽 隨随 歲岁 孫孙 損损 縮缩 態态 談谈 嘆叹 "
    "歎叹 湯汤 討讨 騰腾 題题 體体 條条 貼贴 鐵铁 聽听 廳厅 頭头 圖图 團团 脫脱 襪袜 灣湾 萬万 "
    "網网 為为 爲为 圍围 衛卫 偉伟 穩稳 問问 窩窝 無无 務务 霧雾 誤误 犧牺 習习 襲袭 戲戏 係系 "
    "繫系 細细 嚇吓 鮮鲜 賢贤 閒闲 閑闲 顯显 險险 現现 線线 縣县 羨羡 鄉乡 響响 項项 嚮向 協协 "
    "寫写 謝谢 興兴 選选 學学 尋寻 訓训 遜逊 壓压 鴨鸭 啞哑 煙烟 鹽盐 嚴严 顏颜 驗验 厭厌 揚扬 "
    "陽阳 養养 樣样 搖摇 藥药 爺爷 葉叶 業业 頁页 醫医 遺遗 憶忆 義义 議议 藝艺 譯译 異异 陰阴 "
    "銀银 飲饮 隱隐 應应 營营 贏赢 擁拥 優优 憂忧 郵邮 遊游 猶犹 魚鱼 與与 語语 預预 獄狱 園园 "
    "員员 圓圆 緣缘 遠远 願愿 約约 閱阅 雲云 運运 雜杂 災灾 載载 暫暂 臟脏 髒脏 棗枣 責责 擇择 "
    "則则 澤泽 賊贼 贈赠 債债 張张 漲涨 帳帐 賬账 趙赵 這这 偵侦 針针 陣阵 鎮镇 掙挣 爭争 鄭郑 "
    "證证 織织 職职 紙纸 製制 質质 鐘钟 鍾钟 終终 種种 腫肿 眾众 週周 晝昼 豬猪 諸诸 燭烛 囑嘱 "
    "貯贮 註注 駐驻 築筑 專专 磚砖 轉转 賺赚 莊庄 裝装 壯壮 狀状 準准 濁浊 資资 總总 縱纵 鄒邹 "
    "組组 鑽钻 罵骂 吳吴 楊杨 鮑鲍 雞鸡 蝦虾 蟎螨 塵尘 敗败 辦办 幫帮 寶宝 綁绑 暈晕 癥症 癢痒 "
    "鬱郁 賀贺 繪绘 妳你 祂他 牠它 臺台 姊姐 捨舍 屍尸 廁厕 龐庞 攔拦 棟栋 橫横 濕湿 瑪玛 瑣琐"
)
TO_SIMPLIFIED: Final = str.maketrans({pair[0]: pair[1] for pair in _VARIANT_PAIRS.split()})
"""For ``str.translate``: text in either script is found by the same words."""


def build_traditional_variants() -> Mapping[str, str]:
    """Map each simplified character to its traditional variants."""
    variants: dict[str, str] = {}
    for pair in _VARIANT_PAIRS.split():
        traditional, simplified = pair[0], pair[1]
        variants[simplified] = variants.get(simplified, simplified) + traditional
    return variants


_SHARED_CHARACTERS: Final = "后里只面斗布占并系松台才云征几划于克干冲舍种丑秋家回谷向仆姜余郁游卷板"
"""Simplified characters that traditional texts use, too."""
TO_TRADITIONAL: Final = str.maketrans(
    {
        one: variants[1]
        for one, variants in build_traditional_variants().items()
        if len(variants) == 2 and one not in _SHARED_CHARACTERS
    }
)
"""For this program's own words; a character with several variants stays as it is."""


def is_traditional(text: str) -> bool:
    """Return whether a text contains a character of traditional Chinese only."""
    return not text.isascii() and text.translate(TO_SIMPLIFIED) != text
