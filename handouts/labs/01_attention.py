# %% [markdown] lang="en"
# # Lab 01. Attention
#
# You will compute, and see:
#
# - attention as a soft look-up, and why its scores are divided by $\sqrt d$;
# - masks: how they hide the future and padding, and why $-10^9$ and not $-\infty$;
# - what a causal mask makes possible: three classes of models, the chain rule, the KV cache;
# - that attention by itself does not know the order of the words;
# - what attention costs beside a recurrent network, and what it gains.
#
# Lecture 6, sections 1 and 2. The lab runs in about five seconds.

# %% [markdown] lang="zh"
# # 实验 01：注意力
#
# 这个实验里你会亲手算出来：
#
# - 注意力是一次软查表，分数为什么要除以 $\sqrt d$；
# - 掩码怎样挡住未来的位置和补齐的位置，为什么用 $-10^9$ 而不用 $-\infty$；
# - 因果掩码带来了什么：三类语言模型、链式法则、KV 缓存；
# - 注意力本身不知道词的顺序；
# - 和循环网络相比，注意力多花了什么，又换来了什么。
#
# 对应第 6 讲第 1、2 节。运行约 5 秒。

# %%
from functools import partial

import numpy as np

from assignment.framework import TensorBackend, tensor, zeros
from handouts.labs import course, figures

generator = np.random.default_rng(6)
MultiHeadAttention = course.transformer.MultiHeadAttention

# %% [markdown] lang="en"
# ## 1. A soft look-up
#
# A dictionary compares what you ask for with every key and returns the value of the one that is equal. Attention
# compares a *query* $q$ with every *key* $k_j$ by their dot product, turns the scores into weights with a softmax, and
# returns the weighted mean of the *values*:
#
# $$ y = \sum_j p_j v_j, \qquad p = \mathrm{softmax}(c \, q \cdot k_1, \ \dots, \ c \, q \cdot k_n). $$
#
# Here are four keys at right angles, with the values 10, 20, 30 and 40, and a query that fits the second key best. The
# factor $c$ makes the look-up softer or harder.

# %% [markdown] lang="zh"
# ## 1. 软查表
#
# 查字典时，拿要找的词和每个键比较，命中哪个键就取出哪个值。注意力把**查询** $q$ 和每个**键** $k_j$ 做点积，
# 用 softmax 把这些分数变成权重，再对**值**求加权平均：
#
# $$ y = \sum_j p_j v_j, \qquad p = \mathrm{softmax}(c \, q \cdot k_1, \ \dots, \ c \, q \cdot k_n). $$
#
# 下面有四个两两正交的键，值分别是 10、20、30、40，查询和第二个键最接近。系数 $c$ 决定这张表查得“软”还是“硬”。

# %%
from handouts.labs import lookup

FACTORS = (1, 4, 16, 64)
found = [lookup.look_up(lookup.QUERY, lookup.KEYS, lookup.VALUES, factor) for factor in FACTORS]
print(
    figures.table(
        ["factor", "weight 1", "weight 2", "weight 3", "weight 4", "output", "gradient for q"],
        [
            [factor, *(f"{weight:.3f}" for weight in one.weights), f"{one.value:.3f}", f"{one.slope:.1e}"]
            for factor, one in zip(FACTORS, found, strict=True)
        ],
    )
)
assert abs(found[-1].value - 20) < 0.0005, "a hard look-up returns the value of the best key"

# %%
fig, axes = figures.figure(height=2.4, columns=4)
for axis, factor, one in zip(axes, FACTORS, found, strict=True):
    axis.bar(["10", "20", "30", "40"], one.weights, color=[figures.GREY, figures.BLUE, figures.GREY, figures.GREY])
    axis.set(title=f"factor {factor}: {one.value:.2f}", xlabel="value", ylim=(0, 1.05), yticks=[0, 0.5, 1])
    axis.tick_params(labelleft=axis is axes[0])
axes[0].set_ylabel("weight")
figures.show(fig)

# %% [markdown] lang="en"
# **Figure 1.** The weights of the four values. With a small factor the output is a blend of all four; with a large one
# it is the second value and nothing else.
#
# The last column of the table is the price of a hard look-up: the output hardly changes when the query does, so hardly
# any gradient reaches it. A model learns *where to look* only while the look-up is soft.

# %% [markdown] lang="zh"
# **图 1** 四个值的权重。系数小，输出是四个值的混合；系数大，输出就只剩第二个值。
#
# 表的最后一列是“硬查表”的代价：查询变一点，输出几乎不变，梯度也就传不到查询。只有查表还“软”的时候，
# 模型才能学会**该看哪里**。

# %% [markdown] lang="en"
# ## 2. Why the scores are divided by $\sqrt d$
#
# The factor above was chosen by hand; in a model, the size $d$ of the vectors chooses it. If all entries of $q$ and $k$
# are independent with mean 0 and variance 1, then $q \cdot k$ is a sum of $d$ independent products, each of mean 0 and
# variance 1. So its variance is $d$ and its standard deviation $\sqrt d$.
#
# Below, 2000 queries look at 32 keys each. *Gradient* is the median length of what comes back to the scores when the
# weights receive a random gradient.

# %% [markdown] lang="zh"
# ## 2. 为什么除以 $\sqrt d$
#
# 上一节的系数是我们随手选的；在模型里，它由向量的维数 $d$ 决定。假定 $q$ 和 $k$ 的分量彼此独立，均值都是 0，
# 方差都是 1。点积把 $d$ 个这样的乘积加起来，每个乘积的均值是 0，方差是 1，所以和的方差是 $d$，标准差是 $\sqrt d$。
#
# 下面让 2000 个查询各看 32 个键。*gradient* 一列的意思是：给权重一个随机的梯度，传回到分数上的梯度长度的中位数。

# %%
from handouts.labs import dot_products

SIZES = (4, 16, 64, 256, 1024)
readings = {scaled: [dot_products.read(size, scaled, generator) for size in SIZES] for scaled in (False, True)}
for scaled, name in ((False, "q.k"), (True, "q.k / sqrt(d)")):
    rows = [
        [size, f"{one.spread:.1f}", f"{one.largest:.2f}", f"{one.gradient:.0e}"]
        for size, one in zip(SIZES, readings[scaled], strict=True)
    ]
    print(figures.table(["d", f"std of {name}", "largest weight", "gradient"], rows), end="\n\n")
for size, raw, divided in zip(SIZES, readings[False], readings[True], strict=True):
    assert abs(raw.spread / size**0.5 - 1) < 0.05, "q.k must have standard deviation sqrt(d)"
    assert abs(divided.spread - 1) < 0.05, "q.k / sqrt(d) must have standard deviation 1"

# %%
fig, axes = figures.figure(columns=2, height=2.8)
for scaled, name, colour, marker in ((False, "q · k", figures.RED, "o"), (True, "q · k / √d", figures.BLUE, "s")):
    axes[0].plot(SIZES, [one.largest for one in readings[scaled]], marker=marker, color=colour, label=name)
    axes[1].plot(SIZES, [one.gradient for one in readings[scaled]], marker=marker, color=colour, label=name)
axes[0].set(xscale="log", xlabel="size d of the vectors", ylabel="largest of 32 weights (mean)", ylim=(0, 1.05))
axes[1].set(xscale="log", yscale="log", xlabel="size d of the vectors", ylabel="gradient at the scores (median)")
for axis in axes:
    axis.set_xticks(SIZES, SIZES)
    axis.minorticks_off()
axes[0].legend()
figures.show(fig)

# %% [markdown] lang="en"
# **Figure 2.** Without the division, the softmax puts nearly all weight on one key as $d$ grows (left), and for most
# queries the gradient dies (right). With it, neither depends on $d$.
#
# The gradient dies because the softmax's Jacobian $\mathrm{diag}(p) - p p^\top$ goes to 0 as $p$ approaches a one-hot
# vector. Dividing by $\sqrt d$ is a question of *initial scale*, like the $1/\sqrt{\text{fan-in}}$ of a linear layer:
# it keeps a variance from depending on the width.

# %% [markdown] lang="zh"
# **图 2** 不除的话，$d$ 越大，softmax 越把几乎全部权重压在一个键上（左），大多数查询收到的梯度也就消失了（右）。
# 除以 $\sqrt d$ 之后，两者都与 $d$ 无关。
#
# 梯度消失是因为：$p$ 趋于独热向量时，softmax 的雅可比矩阵 $\mathrm{diag}(p) - p p^\top$ 趋于 0。
# 所以除以 $\sqrt d$ 管的是**初始尺度**，和线性层的 $1/\sqrt{\text{fan-in}}$ 用意相同：不让方差跟着宽度走。

# %% [markdown] lang="en"
# ## 3. The causal mask
#
# A decoder predicts the next token, so no position may see a later one. Before the softmax, a mask adds $-10^9$ to the
# scores of all later positions:
#
# $$ \mathrm{Attention}(Q, K, V) = \mathrm{softmax}\left(\frac{QK^\top}{\sqrt d} + M\right) V. $$
#
# We take a new layer of attention with two heads and look at its weights for five random vectors. Then we put another
# vector at position 2 and see which outputs change.

# %% [markdown] lang="zh"
# ## 3. 因果掩码
#
# 解码器要预测下一个 token，所以任何位置都不许看到后面的位置。做 softmax 之前，掩码给后面各位置的分数加上 $-10^9$：
#
# $$ \mathrm{Attention}(Q, K, V) = \mathrm{softmax}\left(\frac{QK^\top}{\sqrt d} + M\right) V. $$
#
# 取一个刚初始化、有两个头的注意力层，看它对五个随机向量给出的权重。然后把位置 2 的向量换掉，看哪些位置的输出变了。

# %%
from handouts.labs import watching

WIDTH, HEADS, LENGTH = 16, 2, 5
causal = MultiHeadAttention(WIDTH, HEADS, causal=True, p_dropout=0.0, backend=TensorBackend(seed=1))
words = 3 * generator.standard_normal((1, LENGTH, WIDTH))  # (1, S, D); 3: weights that differ more are easier to see

causal_weights = watching.attention_weights(causal, tensor(words))[0]  # (1, h, S, S) -> (h, S, S)
rows = [[i, *(f"{weight:.2f}" if weight else "0" for weight in row)] for i, row in enumerate(causal_weights[0])]
print(figures.table(["query", *(f"key {i}" for i in range(LENGTH))], rows))
assert (np.triu(causal_weights, 1) == 0).all(), "weights above the diagonal must be exactly 0"

# %%
changed = watching.changes(causal, words, place=2, other=generator.standard_normal(WIDTH))
print()
print(
    figures.table(
        ["position", "change of the output"],
        [[i, f"{size:.3f}" if size else "exactly 0"] for i, size in enumerate(changed)],
    )
)
assert (changed[:2] == 0).all(), "what comes before a changed token must not change at all"
assert (changed[2:] > 0).all(), "what comes after it must"

# %% [markdown] lang="en"
# Above the diagonal the weights are not small, they are exactly 0: in float64, $e^{-10^9}$ is 0. So the outputs before
# position 2 keep every bit. Two things follow.
#
# - **Training in parallel.** One forward pass gives the predictions at all positions, and each has seen only what it
#   may.
# - **Generating step by step.** What was computed for old positions stays right when new ones arrive (section 6).

# %% [markdown] lang="zh"
# 对角线上方的权重不是“很小”，而是恰好等于 0：在 float64 里 $e^{-10^9}$ 就是 0。所以位置 2 之前的输出一位都不变。
# 由此得到两件事：
#
# - **训练可以并行**：一次前向给出全部位置的预测，每个位置都只看到了它该看的。
# - **生成可以一步一步来**：新 token 到来之后，旧位置算过的结果仍然有效（见第 6 节）。

# %% [markdown] lang="en"
# ## 4. Three classes of models, and the chain rule
#
# Who may see whom is most of what tells three classes of language models apart. Let $x$ be a source of three tokens and
# $y$ a target of three; a row says what its position sees. An encoder-only model has no target: it reads all six.

# %% [markdown] lang="zh"
# ## 4. 三类语言模型和链式法则
#
# 三类语言模型的区别，主要就在于谁能看见谁。设源句 $x$ 有三个 token，目标句 $y$ 也有三个；
# 每一行表示该位置能看到哪些位置。encoder-only 模型没有目标句，六个 token 都是它要读的输入。

# %%
from handouts.labs import model_classes

print(model_classes.drawn(model_classes.visible(source=3, target=3), source=3))

# %% [markdown] lang="en"
# - *Encoder-only* (BERT): everything sees everything. Good for understanding a text, not for writing one.
# - *Encoder–decoder* (T5, the 2017 Transformer): the source sees itself; the target sees the source (cross-attention)
#   and its own past.
# - *Decoder-only* (GPT, LLaMA, your homework): source and target are one sequence under one causal mask.
#
# The last two write by the chain rule: the probability of a text is a product over its tokens,
#
# $$ P(y \mid x) = \prod_t P(y_t \mid y_1, \dots, y_{t-1}, x). $$
#
# This is a distribution only if each factor is one, and if no factor has seen its own answer. We can check: with four
# words, there are $4^3 = 64$ texts of three words, and a new `DecoderLM` must give them probabilities that sum to 1.
# Then we take its mask away.

# %% [markdown] lang="zh"
# - *encoder-only*（BERT）：所有位置互相看见。适合理解文本，不适合写文本。
# - *encoder–decoder*（T5、2017 年的 Transformer）：源句看自己；目标句看源句（交叉注意力）和自己的前文。
# - *decoder-only*（GPT、LLaMA、你的作业）：源句和目标句首尾相接，整条序列只有一个因果掩码。
#
# 后两类模型按链式法则写文本，一段文本的概率是逐 token 的乘积：
#
# $$ P(y \mid x) = \prod_t P(y_t \mid y_1, \dots, y_{t-1}, x). $$
#
# 要让它真的是一个概率分布，每个因子都得是分布，而且不能偷看自己的答案。这可以检验：词表只有 4 个词时，
# 长度为 3 的文本共有 $4^3 = 64$ 种，一个刚初始化的 `DecoderLM` 给它们的概率之和必须是 1。然后我们把掩码拿掉再算一次。

# %%
lm = course.transformer.DecoderLM(4, 16, 2, n_positions=3, backend=TensorBackend(seed=3), n_layer=2)
lm.eval()
total = model_classes.sequence_probabilities(lm, n_vocab=4, length=3).sum()
for layer in (lm.t_layer_1, lm.t_layer_2):
    layer.attention.create_causal_mask = lambda size: zeros((1, 1, size, size))  # hides nothing
unmasked = model_classes.sequence_probabilities(lm, n_vocab=4, length=3).sum()
print(f"sum over all 64 texts, causal      {total:.3f}")
print(f"sum over all 64 texts, not causal  {unmasked:.3f}")
assert abs(total - 1) < 1e-12, "the probabilities of all texts must sum to 1"
assert abs(unmasked - 1) > 1e-3, "without the mask the factors have seen their answers"

# %% [markdown] lang="en"
# ## 5. The padding mask, and why $-10^9$
#
# Sentences of a batch differ in length; the shorter ones are filled up. A padding mask (`pad_mask`, 1 at filled
# positions) hides these from every query. The output of a filled position is computed, too, but nobody reads it.

# %% [markdown] lang="zh"
# ## 5. 补齐掩码，为什么用 $-10^9$
#
# 一批句子长短不一，短的要补齐。补齐掩码（`pad_mask`，补齐的位置为 1）让任何查询都看不到这些位置。
# 补齐位置自己的输出也会算出来，只是没有人用。

# %%
both_ways = MultiHeadAttention(WIDTH, HEADS, causal=False, p_dropout=0.0, backend=TensorBackend(seed=1))
pad_mask = tensor([[0, 0, 0, 1, 1]])  # (1, S): the last two positions are filled
padded_weights = watching.attention_weights(both_ways, tensor(words), pad_mask)[0]  # (h, S, S)
noise = generator.standard_normal(WIDTH)
changed = watching.changes(lambda x: both_ways(x, pad_mask), words, place=4, other=noise)[:3]
alone = both_ways(tensor(words[:, :3])).to_numpy()
together = both_ways(tensor(words), pad_mask).to_numpy()[:, :3]
print("weights of padding                       exactly 0")
print("change of words when the padding changes exactly 0")
print("a sentence padded, and alone: difference below 1e-14")
assert (padded_weights[:, :, 3:] == 0).all(), "padding must get no weight"
assert (changed == 0).all(), "what stands in the padding must not matter"
assert np.abs(together - alone).max() < 1e-14, "padding must not change a sentence"

# %%
fig, axes = figures.figure(columns=2, height=3.0)
for axis, name, shown in ((axes[0], "causal mask", causal_weights[0]), (axes[1], "padding mask", padded_weights[0])):
    axis.imshow(shown, cmap="Blues", vmin=0, vmax=1)
    for (row, column), weight in np.ndenumerate(shown):
        text, colour = ("0", figures.GREY) if weight == 0 else (f"{weight:.2f}", "white" if weight > 0.6 else "black")
        axis.text(column, row, text, ha="center", va="center", color=colour)
    axis.set(title=name, xlabel="key: what is seen", ylabel="query: who looks", xticks=range(5), yticks=range(5))
    axis.spines[:].set_visible(False)
figures.show(fig)

# %% [markdown] lang="en"
# **Figure 3.** The weights of one head; each row sums to 1, and a plain 0 is exactly 0. A causal mask hides a triangle,
# a padding mask whole columns.
#
# Why $-10^9$? We hide one key of three, and then all three, by adding different numbers to their scores.

# %% [markdown] lang="zh"
# **图 3** 一个头的权重。每行之和为 1，写成“0”的恰好是 0。因果掩码挡住一个三角形，补齐掩码挡住整列。
#
# 为什么是 $-10^9$？我们给分数加上不同的数，先挡住三个键中的一个，再把三个全挡住。

# %%
from handouts.labs import hiding

rows = []
for added in (-10.0, -1e9, -np.inf):
    outcome = hiding.hide(added)
    leak = "exactly 0" if outcome.leak == 0 else f"{outcome.leak:.0e}"
    rows.append([f"{added:g}", leak, "numbers" if outcome.finite else "nan"])
print(figures.table(["added", "weight of the hidden key", "weights when all are hidden"], rows))
assert hiding.hide(-1e9) == hiding.Hidden(leak=0.0, finite=True), "-1e9 hides wholly and makes no nan"

# %% [markdown] lang="en"
# A small number leaks. $-\infty$ hides, but in a row where *everything* is hidden (a sentence of padding only) the
# softmax computes $-\infty - (-\infty)$, and one `nan` spoils the whole batch. $-10^9$ hides exactly and stays a
# number. (In float16, whose largest number is 65504, you would need another one.)

# %% [markdown] lang="zh"
# 数太小会泄漏。$-\infty$ 能挡住，但如果一行**全部**被挡住（整句都是补齐），softmax 就要算 $-\infty - (-\infty)$，
# 一个 `nan` 会毁掉整个批次。$-10^9$ 恰好挡住，又始终是个正常的数。（float16 最大只到 65504，要换一个数。）

# %% [markdown] lang="en"
# ## 6. Why causality allows a KV cache
#
# To write token $t+1$, a model needs the keys and values of positions $1 \dots t$ in every layer. Must it compute them
# again for every new token? Not if they never change, and under a causal mask they do not.
#
# Two layers are fed six vectors, once all together, once one at a time with the keys and values kept. We compare, with
# and without the mask.

# %% [markdown] lang="zh"
# ## 6. 为什么因果掩码允许 KV 缓存
#
# 要写第 $t+1$ 个 token，每一层都需要位置 $1 \dots t$ 的键和值。每来一个新 token 都要重算一遍吗？只要它们不会再变，
# 就不用；而在因果掩码下，它们确实不变。
#
# 把六个向量喂给两层网络：一次全部喂入；另一次每步只喂一个，把键和值存下来。有掩码、无掩码各比较一次。

# %%
from handouts.labs import kv_cache

tokens = generator.standard_normal((1, 6, WIDTH))
rows = []
for is_causal in (True, False):
    layers = [
        course.transformer.TransformerLayer(
            WIDTH, HEADS, p_dropout=0.0, causal=is_causal, backend=TensorBackend(seed=s)
        )
        for s in (1, 2)
    ]
    cache = kv_cache.KVCache(layers)
    apart = np.abs(cache.run(tokens) - kv_cache.at_once(layers, tokens)).max(axis=(0, 2))  # (1, S, D) -> (S,)
    rows.append([is_causal, *("<1e-14" if error < 1e-14 else f"{error:.2f}" for error in apart)])
    assert (apart.max() < 1e-14) == is_causal, "the cache must be right under a causal mask, and only there"
print(figures.table(["causal", *(f"position {place}" for place in range(6))], rows))
print(f"\nprojected with the cache: {cache.projected} positions; without it: 1 + 2 + ... + 6 = {6 * 7 // 2}")

# %% [markdown] lang="en"
# With the mask, the cached steps give what the whole pass gives. Without it, position 0 would have to change when
# position 1 arrives, and with it the key that layer 2 made of it: the cache holds keys of the past, and even the last
# output, which sees everything, is wrong.

# %% [markdown] lang="zh"
# 有掩码时，带缓存的逐步计算和一次前向结果相同。没有掩码时，位置 1 一到，位置 0 的输出就该变，
# 第 2 层由它算出的键也该变；缓存里存的却是旧的键。于是连本来就能看到全部位置的最后一个输出也是错的。

# %% [markdown] lang="en"
# ## 7. Attention does not know the order
#
# Attention compares contents. Give it the same words in another order, with nothing in them that tells the order, and
# it gives the same outputs in that other order: it is *permutation equivariant*. We shuffle nine words before a layer,
# or its outputs after it.

# %% [markdown] lang="zh"
# ## 7. 注意力不知道顺序
#
# 注意力比较的是内容。同样的词换一个次序，只要词本身不带位置，输出就还是原来那些，只不过也换成了同一个次序：
# 这个性质叫**置换等变**。我们打乱 9 个词，一次在进入注意力之前打乱，一次在输出之后打乱，比较两者。

# %%
nine = generator.standard_normal((1, 9, WIDTH))
order = generator.permutation(9)
for is_causal in (False, True):
    attention = MultiHeadAttention(WIDTH, HEADS, is_causal, p_dropout=0.0, backend=TensorBackend(seed=1))
    before, after = attention(tensor(nine[:, order])).to_numpy(), attention(tensor(nine)).to_numpy()[:, order]
    error = np.abs(before - after).max()
    print(f"{'causal mask' if is_causal else 'no mask':12} difference", f"{error:.2f}" if is_causal else "below 1e-14")
    assert (error < 1e-14) != is_causal, "without a mask, attention must be permutation equivariant"

# %% [markdown] lang="en"
# (A causal mask does tell positions apart: the first word sees one word, the second two.)
#
# So a classifier that reads in both directions and takes the mean of its outputs cannot tell *the plot was good but the
# acting was bad* from *the acting was bad but the plot was good*. We ask a new one, without and with position
# embeddings.

# %% [markdown] lang="zh"
# （因果掩码本身会带来一点位置信息：第一个词只看到一个词，第二个词看到两个。）
#
# 所以，一个双向读句子、再对输出取平均的分类器，
# 分不清 *the plot was good but the acting was bad* 和 *the acting was bad but the plot was good*。
# 我们拿一个刚初始化的分类器试一试，不带和带位置嵌入各一次。

# %%
from handouts.labs import film_classifier

pair = film_classifier.encoded(
    ["the plot was good but the acting was bad", "the acting was bad but the plot was good"]
)  # (2, 9)
for positions in (False, True):
    model = film_classifier.fresh(positions)
    one, other = model.pool(tensor(pair)).to_numpy()  # (2, D)
    apart = np.abs(one - other).max()
    print(f"{'with' if positions else 'without'} positions:".ljust(20), f"{apart:.2f}" if positions else "below 1e-14")
    assert (apart < 1e-14) != positions, "only positions tell the two sentences apart"

# %% [markdown] lang="en"
# The first difference is rounding; nothing that is trained on top of it could ever use it. Lab 02 shows how positions
# are put in, lab 07 trains this classifier.

# %% [markdown] lang="zh"
# 第一个差只是舍入误差，后面怎么训练都用不上它。实验 02 讲位置怎样加进去，实验 07 训练这个分类器。

# %% [markdown] lang="en"
# ## 8. What attention costs beside a recurrent network
#
# Before 2017, sequences were read by recurrent networks, $h_t = \tanh(x_t W + h_{t-1} U)$. This has two troubles. Every
# state is made from the one before, so $n$ words take $n$ steps, one after the other. And the first word reaches the
# last state only through $n - 1$ multiplications by $U$. We measure the second: how much gradient of the *last* output
# arrives at each word.

# %% [markdown] lang="zh"
# ## 8. 和循环网络比成本
#
# 2017 年以前，序列用循环网络来读：$h_t = \tanh(x_t W + h_{t-1} U)$。它有两个问题。一是每个状态都由前一个状态算出，
# $n$ 个词要接连走 $n$ 步；二是第一个词要乘 $n-1$ 次 $U$ 才能到达最后的状态。先量第二个问题：**最后**一个输出的梯度，
# 传到每个词还剩多少。

# %%
from handouts.labs import rnn

N, SIZE = 64, 64
sequence, upstream = generator.standard_normal((N, SIZE)), generator.standard_normal((1, SIZE))
reader = MultiHeadAttention(SIZE, 4, causal=True, p_dropout=0.0, backend=TensorBackend(seed=1))
arriving = {
    "RNN": rnn.gradients_by_place(rnn.RNN(SIZE, backend=TensorBackend(seed=1)), sequence, upstream),
    "RNN, U x 1.7": rnn.gradients_by_place(rnn.RNN(SIZE, 3**0.5, TensorBackend(seed=1)), sequence, upstream),
    "attention": rnn.gradients_by_place(lambda x: reader(x.view(1, N, SIZE))[0, N - 1 :], sequence, upstream),
}  # view: (S, D) -> (1, S, D)
rows = [[name, *(f"{gradients[place]:.0e}" for place in (63, 48, 32, 0))] for name, gradients in arriving.items()]
print(figures.table(["", "last word", "15 back", "31 back", "63 back"], rows))

# %%
fig, axis = figures.figure(height=2.8)
for (name, gradients), colour in zip(arriving.items(), (figures.RED, figures.ORANGE, figures.BLUE), strict=True):
    axis.plot(np.arange(N)[::-1], gradients, color=colour)
    axis.text(N, gradients[0], name, color=colour, va="center")
axis.set(yscale="log", xlabel="how many words before the last", ylabel="length of the gradient", xlim=(0, N + 14))
axis.set_xticks((0, 15, 31, 47, 63))
figures.show(fig)

# %% [markdown] lang="en"
# **Figure 4.** The gradient of the last output at each word. Through a recurrent network with PyTorch's initial weights
# it falls by about half with each step; with $U$ scaled to a spectral radius near 1 it falls more slowly, but falls.
# Attention connects any two words directly: distance does not matter.
#
# Now the first trouble, and the costs. The steps in a row are also the longest path between two words. With $d = 512$,
# counting matrix products only:
#
# $$ \text{RNN: } 4 n d^2, \qquad \text{attention: } 8 n d^2 + 4 n^2 d, \qquad \text{ratio: } 2 + n / d. $$

# %% [markdown] lang="zh"
# **图 4** 最后一个输出的梯度传到每个词时的大小。循环网络用 PyTorch 的初始权重，每退一步大约减半；
# 把 $U$ 放大到谱半径接近 1，减得慢些，但仍在减。注意力让任意两个词直接相连，和距离无关。
#
# 再看第一个问题和成本。串行的步数，也就是两个词之间最长的路径。取 $d = 512$，只数矩阵乘法：
#
# $$ \text{RNN：} 4 n d^2, \qquad \text{注意力：} 8 n d^2 + 4 n^2 d, \qquad \text{两者之比：} 2 + n / d. $$

# %%
from handouts.labs import reading_costs
from handouts.labs.counting import matmul_flops, operations
from handouts.labs.stopwatch import shortest

D, LENGTHS = 512, (128, 512, 2048)
rows = []
for n in LENGTHS:
    ours, theirs = reading_costs.attention_flops(n, D), reading_costs.rnn_flops(n, D)
    assert ours / theirs == 2 + n / D, "attention costs 2 + n/d times as much"
    rows.append([n, f"{theirs / 1e9:.2f}", f"{ours / 1e9:.2f}", f"{ours / theirs:.2f}", n, 1])
headings = ["n", "GFLOP: RNN", "attention", "ratio", "steps in a row: RNN", "attention"]
print(figures.table(headings, rows))

# %%
layer = MultiHeadAttention(D, 8, backend=TensorBackend(seed=1))
done = operations(lambda: layer(tensor(generator.standard_normal((1, 128, D)))))
counted, products = matmul_flops(done), sum(one.kind == "matmul" for one in done)
assert counted == reading_costs.attention_flops(128, D), "the formula counts what the framework computes"
print(f"The framework's own layer, n = 128: {products} matrix products, {counted / 1e9:.2f} GFLOP")

# %% [markdown] lang="en"
# So attention takes **more** arithmetic, not less: more than twice as much, and six times as much at $n = 2048$. But
# how much of it does this machine do in a second?

# %% [markdown] lang="zh"
# 可见论运算量，注意力只**多**不少：总在 2 倍以上，$n = 2048$ 时是 6 倍。但是这台机器每秒能做其中的多少呢？

# %% tags=["volatile"]
projections = generator.standard_normal((4, D, D), dtype=np.float32) * D**-0.5
readers = {
    "RNN": (lambda x: reading_costs.run_rnn(x, projections[0], projections[1]), reading_costs.rnn_flops),
    "attention": (lambda x: reading_costs.run_attention(x, projections), reading_costs.attention_flops),
}
rows = []
for n in LENGTHS:
    x = generator.standard_normal((n, D), dtype=np.float32)
    seconds = shortest(*(partial(run, x) for run, _ in readers.values()))
    billions = [flops(n, D) / 1e9 for _, flops in readers.values()]
    rows.append([n, *(f"{count / time:.1f}" for count, time in zip(billions, seconds, strict=True))])
print(figures.table(["n", "RNN GFLOP/s", "attention GFLOP/s"], rows))

# %% [markdown] lang="en"
# A recurrent step is a matrix times a *vector*: each weight is fetched for a single multiplication. Attention is
# matrices times matrices and uses each weight $n$ times. (These figures are those of one core of the machine that built
# this page. On the lecture's machine it was about 50 against 700 to 860.)

# %% [markdown] lang="zh"
# 循环网络的一步是矩阵乘**向量**：取来一个权重，只用它做一次乘法。注意力是矩阵乘矩阵，一个权重取来要用 $n$ 次。
# （这里是生成本页的机器上一个核的数字；讲义那台机器上大约是 50 对 700–860。）

# %% [markdown] lang="en"
# ## To think about
#
# 1. A causal mask over $S$ positions hides $S(S-1)/2$ of $S^2$ scores. They are computed nevertheless. What would a
#    kernel that skips them gain, at best?
# 2. In section 6, suppose the stack without a mask had only *one* layer. Which of the six positions would the cache get
#    right, and why?
# 3. Section 2 took queries and keys of unit variance. A layer norm and a linear layer stand before them. What does
#    training do to that variance, and who could notice?
#
# ## To read
#
# - Vaswani et al. (2017), *Attention Is All You Need*: section 3.2 (footnote 4 explains $\sqrt d$), section 4 and
#   table 1 (steps in a row, path lengths).
# - Rush, *The Annotated Transformer*, <https://nlp.seas.harvard.edu/annotated-transformer/>.
# - Alammar, *The Illustrated Transformer*, <https://jalammar.github.io/illustrated-transformer/>.

# %% [markdown] lang="zh"
# ## 想一想
#
# 1. $S$ 个位置的因果掩码挡住了 $S^2$ 个分数中的 $S(S-1)/2$ 个，可这些分数还是算了。如果有一个内核跳过它们，
#    最多能省多少？
# 2. 第 6 节里，假设没有掩码的网络只有**一**层，六个位置中哪些能由缓存算对？为什么？
# 3. 第 2 节假设查询和键的方差都是 1。它们前面有 LayerNorm 和线性层。训练会怎样改变这个方差？从哪里能看出来？
#
# ## 延伸阅读
#
# - Vaswani et al. (2017), *Attention Is All You Need*：第 3.2 节（脚注 4 解释 $\sqrt d$）、第 4 节和表 1（串行步数、
#   路径长度）。
# - Rush, *The Annotated Transformer*, <https://nlp.seas.harvard.edu/annotated-transformer/>。
# - Alammar, *The Illustrated Transformer*, <https://jalammar.github.io/illustrated-transformer/>。
