# %% [markdown] lang="en"
# # Lab 07. The same words, turned
#
# Three models judge sentences about films: a bag of words, a Transformer without positions, and one with them.
# You will see
#
# - the framework and torch train the same model, step by step, to the last digits;
# - which kinds of sentences need attention, and which need positions as well;
# - a loss that cannot fall below a value known beforehand;
# - where the trained model looks.
#
# Lecture 6, section 9.3. The lab runs in about ten seconds; section 2 needs torch. The same models in a terminal:
# `python -m assignment.reversal`.

# %% [markdown] lang="zh"
# # 实验 07：转折句
#
# 三个模型来判断影评是褒是贬：词袋模型，不带位置的 Transformer，带位置的 Transformer。你会看到：
#
# - 我们的框架和 torch 训练同一个模型，每一步都一致，一直到最后几位小数；
# - 哪些句子需要注意力，哪些还需要位置；
# - 一条事先就能算出下界的损失曲线；
# - 训练好的模型在看哪里。
#
# 对应第 6 讲第 9.3 节。运行约 10 秒；第 2 节需要 torch。在终端里也能看到同样的模型：`python -m assignment.reversal`。

# %%
import numpy as np

from assignment import reversal
from assignment.framework import tensor
from assignment.training import sentences
from assignment.training.attention import attention_weights
from assignment.training.bag_of_words import BagOfWords
from handouts.labs import figures, film_classifier, torch_classifier

data = sentences.draw(np.random.default_rng(0), reversal.STEPS, reversal.BATCH)

# %% [markdown] lang="en"
# ## 1. Three kinds of sentences
#
# All have nine words. In a *plain* sentence two adjectives agree; in a *negated* one both are denied; in a *turned* one
# the two disagree, and the one after *but* decides. Sentences come in pairs of opposite verdicts:

# %% [markdown] lang="zh"
# ## 1. 三种句子
#
# 每句 9 个词。*plain* 句里两个形容词一致；*negated* 句把两个都否定掉；*turned* 句里两个形容词相反，
# *but* 之后的那个说了算。句子成对出现，一褒一贬：

# %%
VERDICTS = ("bad", "good")
rows = [
    [kind, data.text(ids), VERDICTS[label]]
    for kind, test in data.tests.items()
    for ids, label in zip(test.ids[:2], test.labels[:2], strict=True)
]
print(figures.table(["kind", "sentence", "verdict"], rows))

vocabulary = len(data.words)
good, bad = (np.bincount(data.ids[data.labels == label].ravel(), minlength=vocabulary) for label in (1, 0))
print(f"\n{data.labels.size} sentences to learn from, {vocabulary} words")
print(f"largest difference between a word's counts in good and in bad sentences: {abs(good - bad).max()}")
assert (good == bad).all(), "no word alone may tell the verdict"

# %% [markdown] lang="en"
# Each word stands as often in good sentences as in bad ones, so no word tells anything by itself. And the two sentences
# of a turned pair consist of the *same* words.
#
# ## 2. The same training in torch
#
# The model is an embedding (with or without positions), one Transformer layer without a mask, the mean over the nine
# words, and a linear map to two scores. Before we believe its results, we train it beside a twin of torch's own layers
# (`torch.nn.TransformerEncoderLayer` with `norm_first`), from the same start, with the same 20 batches, in float64.

# %% [markdown] lang="zh"
# 每个词在褒义句和贬义句里出现的次数一样多，所以单看任何一个词都得不到信息。而一对转折句用的是**同一组**词。
#
# ## 2. 和 torch 一起训练
#
# 模型是：嵌入（带或不带位置）、一个不加掩码的 Transformer 层、对 9 个词取平均、再线性映射到两个分数。
# 在相信它的结果之前，先和一个用 torch 自己的层（`torch.nn.TransformerEncoderLayer`，`norm_first`）
# 搭的双胞胎一起训练：同样的初值，同样的 20 个批次，float64。

# %%
TWIN_STEPS = 20
rows = []
for positions in (False, True):
    model = film_classifier.fresh(positions)
    twin = torch_classifier.TorchClassifier(model, reversal.N_HEAD)
    with film_classifier.on_course_modules():
        ids, labels = (tensor(array[:TWIN_STEPS]) for array in (data.ids, data.labels))
        ours = model.learn(ids, labels, reversal.RATE).to_numpy()
    theirs = twin.learn(data.ids[:TWIN_STEPS], data.labels[:TWIN_STEPS], reversal.RATE)
    assert np.abs(ours - theirs).max() < 1e-12, "twenty losses must follow torch's to rounding"
    rows.append(["with" if positions else "without", f"{ours[0]:.6f}", f"{ours[-1]:.6f}", "below 1e-12"])
print(figures.table(["positions", "loss at step 1", f"at step {TWIN_STEPS}", "largest difference from torch"], rows))

# %% [markdown] lang="en"
# Forward passes, backward passes and steps of Adam: twenty of each agree with torch's to rounding.
#
# ## 3. Who can tell what
#
# Now we train for longer: 120 batches of 24 sentences. The bag of words is a logistic regression on how often each word
# occurs, fitted to all the same sentences at once. Then all three judge sentences that none has seen.

# %% [markdown] lang="zh"
# 前向、反向、Adam 更新，连续 20 次都和 torch 一致，只差舍入误差。
#
# ## 3. 谁能分清什么
#
# 现在训练得久一些：120 批，每批 24 句。词袋模型是对各词出现次数做的逻辑回归，一次用上同样的全部句子。
# 然后三个模型都来判断没见过的句子。

# %%
counter = BagOfWords(vocabulary)
counter.learn(data.ids.reshape(-1, sentences.LENGTH), data.labels.reshape(-1))  # (steps, B, S) -> (steps B, S)
blind, seeing = film_classifier.fresh(positions=False), film_classifier.fresh(positions=True)
losses = {
    "without positions": film_classifier.learn(blind, data),
    "with positions": film_classifier.learn(seeing, data),
}

right = {}
for kind, test in data.tests.items():
    judged = (counter(test.ids), reversal.judge(blind, test.ids), reversal.judge(seeing, test.ids))
    right[kind] = [float(np.mean(classes == test.labels)) for classes in judged]
rows = [[kind, *(f"{share:.0%}" for share in shares)] for kind, shares in right.items()]
print(figures.table(["judged rightly", *reversal.MODELS], rows))
assert right == {"plain": [0.5, 1, 1], "negated": [0.5, 1, 1], "turned": [0.5, 0.5, 1]}, "only positions tell all"

# %% [markdown] lang="en"
# - The **bag of words** guesses, even on plain sentences: a plain and a negated sentence with the same adjectives
#   have opposite verdicts, and a sum over words cannot say "good, unless there is a *not*".
# - **Attention** can: each word sees whether there is a *not*. That suffices for negated sentences, whatever the order.
# - **Turned** sentences need the order. Without positions, the two of a pair get the same scores, so exactly one of
#   them is judged rightly.
#
# The losses say the same. A third of each batch is turned sentences; who cannot tell these apart does best to give both
# verdicts one half, which costs $\ln 2$ on each. So the loss cannot fall below $\tfrac13 \ln 2 = 0.231$.

# %% [markdown] lang="zh"
# - **词袋模型**只能猜，连普通句也一样：形容词相同的普通句和否定句结论相反，
#   而对词求和表达不了“good 是好，除非有 *not*”。
# - **注意力**可以：每个词都能看到句中有没有 *not*。对否定句来说这就够了，与顺序无关。
# - **转折句**离不开顺序。没有位置时，一对句子得到的分数相同，所以恰好对一个、错一个。
#
# 损失曲线说的是同一件事。每批有三分之一是转折句；分不清它们的模型，最好的办法是两边各给一半概率，
# 每句的代价是 $\ln 2$。所以损失不可能低于 $\tfrac13 \ln 2 = 0.231$。

# %%
FLOOR = np.log(2) / 3
print(f"mean loss of the last 20 steps, without positions: {losses['without positions'][-20:].mean():.3f}")
fig, axis = figures.figure(height=3.0)
for (name, curve), colour in zip(losses.items(), (figures.RED, figures.BLUE), strict=True):
    axis.plot(np.arange(1, len(curve) + 1), curve, color=colour, label=name)
axis.axhline(FLOOR, color=figures.GREY, linestyle="--", linewidth=1, label="ln 2 / 3")
axis.set(xlabel="step", ylabel="loss of the batch (nats)", ylim=(0, None), xlim=(0, reversal.STEPS + 1))
axis.legend()
figures.show(fig)
assert losses["without positions"].min() > FLOOR - 1e-9, "without positions nothing can be below ln 2 / 3"

# %% [markdown] lang="en"
# **Figure 1.** Without positions the loss comes down to the floor and stays there; with them it goes on to 0.
#
# ## 4. What positions change
#
# How far apart does each model put the two sentences of a turned pair, just before it judges? We compare the mean
# vectors over all pairs of the test, before and after training.

# %% [markdown] lang="zh"
# **图 1** 不带位置的模型，损失降到下界就停住了；带位置的继续降到 0。
#
# ## 4. 位置改变了什么
#
# 下判断之前，模型把一对转折句放得有多远？我们在测试集的所有句对上比较平均后的向量，训练前后各一次。

# %%
rows = []
for positions, trained in ((False, blind), (True, seeing)):
    apart = [
        max(reversal.distance(model, pair) for pair in data.turned_pairs())
        for model in (film_classifier.fresh(positions), trained)
    ]
    shown = [f"{size:.2f}" if positions else "below 1e-12" for size in apart]
    rows.append(["with" if positions else "without", *shown])
    assert (max(apart) < 1e-12) != positions, "only positions set the two apart"
print(figures.table(["positions", "new", "trained"], rows))

# %% [markdown] lang="en"
# To the model without positions the two sentences are one input: neither longer training nor more layers would help it.
#
# ## 5. Where it looks
#
# Row $i$ of the first picture says where word $i$ of one sentence looks, averaged over the four heads. The second is an
# average over all rows, all turned sentences of the test, and four trainings that differ in their data and their
# initial values.

# %% [markdown] lang="zh"
# 对不带位置的模型来说，这两句是同一个输入：训练再久、层数再多也没有用。
#
# ## 5. 它在看哪里
#
# 第一张图的第 $i$ 行表示一句话里第 $i$ 个词在看哪里（对四个头取平均）。第二张图是对所有行、测试集全部转折句，
# 以及四次训练（数据和初值都不同）的平均。

# %%
looks, example = [], attention_weights(seeing, tensor(data.tests["turned"].ids[:1]))[0]  # (1, S, S) -> (S, S)
for seed in range(4):
    drawn = sentences.draw(np.random.default_rng(seed), reversal.STEPS, reversal.BATCH) if seed else data
    model = film_classifier.fresh(positions=True, seed=seed) if seed else seeing
    if seed:
        film_classifier.learn(model, drawn)
    weights = attention_weights(model, tensor(drawn.tests["turned"].ids))  # (N, S, S)
    looks.append(weights.mean(axis=(0, 1)))  # (N, S, S) -> (S,)
mean = np.mean(looks, axis=0)
assert mean.argmax() == sentences.LENGTH - 1, "the adjective after but must get the most attention"
print(f"attention on the last word: {mean[-1]:.0%}; evenly spread it would be {1 / sentences.LENGTH:.0%}")

# %%
words = data.text(data.tests["turned"].ids[0]).split()
places = np.arange(sentences.LENGTH)
fig, axes = figures.figure(columns=2, height=3.4)
axes[0].imshow(example, cmap="Blues", vmin=0)
axes[0].set_xticks(places, words, rotation=90)
axes[0].set_yticks(places, words)
axes[0].set(title="one sentence", xlabel="is looked at", ylabel="looks")
axes[1].bar(places, mean, color=[figures.GREY] * (len(mean) - 1) + [figures.BLUE])
for one in looks:
    axes[1].plot(places, one, "o", color="black", markersize=3)
axes[1].axhline(1 / sentences.LENGTH, color=figures.GREY, linestyle="--", linewidth=1)
axes[1].set_xticks(places, ["the", "noun", "was", "adj.", "but", "the", "noun", "was", "adj."], rotation=90)
axes[1].set(title="all turned sentences, four trainings", ylabel="share of the attention")
figures.show(fig)

# %% [markdown] lang="en"
# **Figure 2.** Left: one sentence; the darker, the more. Right: bars are the mean of four trainings, dots the single
# ones, the dashed line is an even spread. On average, most attention goes to the adjective after *but*: the verdict.
#
# A single sentence, or a single training, need not follow the average, as the dots show. Attention is a place to look
# for an explanation, not a proof of one: the word itself also reaches the mean directly, along the residual path.

# %% [markdown] lang="zh"
# **图 2** 左：一个句子，颜色越深，注意力越多。右：柱子是四次训练的平均，黑点是各次训练，虚线是平均分配的情形。
# 平均来看，得到注意力最多的是 *but* 之后的形容词，也就是决定结论的那个词。
#
# 单个句子、单次训练不一定如此，黑点就说明了这一点。注意力可以提示到哪里去找解释，但它本身不是证明：
# 每个词还能沿残差连接直接进入平均。

# %% [markdown] lang="en"
# ## To think about
#
# 1. Give the bag of words a feature for every *pair* of words that stand in one sentence. Which rows of the table
#    change, and which cannot?
# 2. Without positions, but with a causal mask: could the model tell turned sentences apart? (Lab 01, section 7.)
# 3. The test sentences use the same words as the training sentences. What would happen to a sentence of ten words, and
#    to one with a new noun?
#
# ## To read
#
# - Vaswani et al. (2017), *Attention Is All You Need*: section 3.5 on positions.
# - Jain and Wallace (2019), *Attention is not Explanation*; Wiegreffe and Pinter (2019), *Attention is not not
#   Explanation*.

# %% [markdown] lang="zh"
# ## 想一想
#
# 1. 如果给词袋模型加上“同一句里出现的每一**对**词”作为特征，表里哪几行会变，哪几行不可能变？
# 2. 没有位置嵌入，但加上因果掩码：模型能分清转折句吗？（见实验 01 第 7 节。）
# 3. 测试句用的词和训练句一样。遇到 10 个词的句子会怎样？遇到一个新名词呢？
#
# ## 延伸阅读
#
# - Vaswani et al. (2017), *Attention Is All You Need*：第 3.5 节，位置编码。
# - Jain and Wallace (2019), *Attention is not Explanation*；Wiegreffe and Pinter (2019),
#   *Attention is not not Explanation*。
