# %% [markdown] lang="en"
# # Lab 04. Residual connections and layer norms
#
# You will compute, and see:
#
# - what attention cannot do without the feed-forward network beside it;
# - what 64 layers do to a gradient, and what residual connections and layer norms change about it;
# - why a sequence model normalises each vector by itself (LayerNorm) and not each feature over the batch (BatchNorm);
# - why it matters *where* the layer norm stands: a model that learns or does not, by this alone.
#
# Lecture 6, section 5. The lab needs NumPy and Matplotlib and runs in about 20 seconds, most of them for training.

# %% [markdown] lang="zh"
# # 实验 04：残差连接与 LayerNorm
#
# 这个实验里你会亲手算出来：
#
# - 只有注意力、没有前馈网络时，模型做不到什么；
# - 64 层网络会把梯度变成什么样，残差连接和 LayerNorm 各起什么作用；
# - 序列模型为什么对每个向量单独归一化（LayerNorm），而不是对每个特征沿整个批归一化（BatchNorm）；
# - LayerNorm 放在**哪里**为什么要紧：仅仅因为这一点，一个模型学得会，另一个学不会。
#
# 对应第 6 讲第 5 节。只需要 NumPy 和 Matplotlib，运行约 20 秒，大部分时间花在训练上。

# %%
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy: on small matrices, threads wait more than they work

import numpy as np

from assignment.framework import Tensor, TensorBackend, tensor
from handouts.labs import figures
from handouts.labs.course import modules_basic, transformer

generator = np.random.default_rng(4)

# %% [markdown] lang="en"
# ## 1. What attention cannot do alone
#
# For an affine function, $f(x) = Ax + b$, changes add up: $f(x+y) - f(0)$ is $f(x) - f(0)$ plus $f(y) - f(0)$. How far
# is a function from that? Measure
#
# $$ \frac{\lVert f(x+y) - f(x) - f(y) + f(0)\rVert}{\lVert f(x+y) - f(0)\rVert}, $$
#
# which is 0 for every affine function. Four sequences of 24 random vectors go through new modules with $d = 64$.

# %% [markdown] lang="zh"
# ## 1. 只有注意力，做不到什么
#
# 仿射函数 $f(x) = Ax + b$ 的变化可以相加：$f(x+y) - f(0)$ 等于 $f(x) - f(0)$ 与 $f(y) - f(0)$ 之和。
# 一个函数离仿射有多远？用下式来量：
#
# $$ \frac{\lVert f(x+y) - f(x) - f(y) + f(0)\rVert}{\lVert f(x+y) - f(0)\rVert}, $$
#
# 仿射函数的这个值是 0。下面让 4 条序列（每条 24 个随机向量，$d = 64$）通过刚初始化的模块。

# %%
from handouts.labs.superposition import defect

backend = TensorBackend(np, "float64", seed=0)
attention = transformer.MultiHeadAttention(64, 4, p_dropout=0.0, backend=backend)
feed_forward = transformer.FeedForward(64, p_dropout=0.0, backend=backend)
x, y = generator.standard_normal((2, 4, 24, 64)) * 0.5**0.5  # two inputs (B, S, D), whose sum has variance 1


# %%
query, key, _ = attention.project_to_query_key_value(tensor(x + y))


def with_weights_held(values: Tensor) -> Tensor:
    """Attend where `x + y` attends, whatever the values."""
    v = attention.project_to_query_key_value(values)[2]
    return attention.out_projection(attention.self_attention(query, key, v))


held = defect(with_weights_held, x, y)
single = defect(attention, x[:, :1], y[:, :1])
free, forward = defect(attention, x, y), defect(feed_forward, x, y)
rows = [
    ("attention, its weights held fixed", "below 1e-14"),
    ("attention, sequences of one vector", "below 1e-14"),
    ("attention", f"{free:.2f}"),
    ("feed-forward network", f"{forward:.2f}"),
]
print(figures.table(["module", "distance from affine"], rows))
assert max(held, single) < 1e-14, "with its weights given, attention must be affine"
assert free < forward, "a new attention must be closer to affine than the feed-forward network"

# %% [markdown] lang="en"
# Once it is decided *where to look*, attention takes a weighted mean and two matrix products: it is affine to the last
# digit. Its only nonlinear part is the softmax that decides. This is meant where attention is called nearly linear; and
# as a new layer's weights are nearly even, the whole module is closer to affine than the feed-forward network.
#
# With a single vector there is nothing to decide, and then attention layers, however many, are one affine map.
# Something must act on each vector by itself, and not linearly: that is the feed-forward network, with two thirds of a
# layer's parameters.

# %% [markdown] lang="zh"
# 一旦**看哪里**定下来，注意力就只是一次加权平均加两次矩阵乘法，精确到最后一位都是仿射的；
# 唯一的非线性在决定权重的 softmax 里。常说注意力“近乎线性”，就是这个意思；又因为刚初始化时各个权重相差不大，
# 整个模块也比前馈网络更接近仿射。
#
# 序列只有一个向量时没有什么可决定，注意力层再多也只是一个仿射变换。所以还要有一个模块，对每个向量单独做非线性变换：
# 这就是前馈网络，一层里三分之二的参数都在它那里。

# %% [markdown] lang="en"
# ## 2. Sixty-four layers
#
# Stack $L$ blocks of `Linear` and ReLU, 256 wide, as they are initialised, in three ways:
#
# $$ x \leftarrow f(x) \qquad\quad x \leftarrow x + f(x) \qquad\quad x \leftarrow x + f(\mathrm{LN}(x)),
# \qquad f(x) = \mathrm{ReLU}(xW + b). $$
#
# Random vectors go forward, a random gradient comes back. By which factor has its length changed when it arrives? For
# the plain stack this can be foreseen. `Linear` draws $W$ uniformly from $\pm 1/\sqrt n$, of variance $1/(3n)$, so it
# brings the squared length of a gradient to one third; the ReLU stops half of the entries. A layer makes
# $\sqrt{1/6} = 0.41$ of it, and 64 layers $6^{-32} = 1.3 \cdot 10^{-25}$.

# %% [markdown] lang="zh"
# ## 2. 叠 64 层
#
# 把 $L$ 个 `Linear` + ReLU（宽 256，刚初始化）用三种方式叠起来：
#
# $$ x \leftarrow f(x) \qquad\quad x \leftarrow x + f(x) \qquad\quad x \leftarrow x + f(\mathrm{LN}(x)),
# \qquad f(x) = \mathrm{ReLU}(xW + b). $$
#
# 随机向量从输入走到输出，随机梯度从输出传回来。传到输入时，梯度的长度变成了几倍？对第一种叠法可以事先算出来：
# `Linear` 的 $W$ 在 $\pm 1/\sqrt n$ 上均匀分布，方差 $1/(3n)$，梯度长度的平方经过它剩三分之一；ReLU 又挡住一半分量。
# 所以每层剩 $\sqrt{1/6} = 0.41$，64 层剩 $6^{-32} = 1.3 \cdot 10^{-25}$。

# %%
from handouts.labs import plain_stack

DEPTHS = (1, 2, 4, 8, 16, 32, 64)
WIDTH = 256
measured = {
    kind: [plain_stack.gain_and_size(kind, depth, WIDTH, seed=0) for depth in DEPTHS] for kind in plain_stack.KINDS
}
rows = [
    [depth, *(f"{measured[kind][number][0]:.1e}" for kind in plain_stack.KINDS)] for number, depth in enumerate(DEPTHS)
]
print("length of the gradient, input / output\n" + figures.table(["layers", *plain_stack.KINDS], rows))

deepest = {kind: measured[kind][-1] for kind in plain_stack.KINDS}
assert 0.3 < deepest[plain_stack.PLAIN][0] / 6**-32 < 3, "64 plain layers must leave 6^-32 of the gradient"
assert deepest[plain_stack.RESIDUAL][1] > 1e5, "residuals alone must explode"
assert 1 < deepest[plain_stack.NORMED][0] < 10, "with residuals and norms the gradient must stay"

# %%
fig, axes = figures.figure(columns=2, height=3.0)
for kind, marker in zip(plain_stack.KINDS, "osD", strict=True):
    for axis, values in zip(axes, zip(*measured[kind], strict=True), strict=True):
        axis.plot(DEPTHS, values, marker=marker, label=kind)
axes[0].plot(DEPTHS, [plain_stack.PLAIN_GAIN**depth for depth in DEPTHS], "--", color=figures.GREY, label="$6^{-L/2}$")
axes[0].set(ylabel="gradient: input / output")
axes[1].set(ylabel="standard deviation of the output")
for axis in axes:
    axis.set(xscale="log", yscale="log", xlabel="layers L")
    axis.set_xticks(DEPTHS, DEPTHS)
    axis.minorticks_off()
axes[0].legend()
figures.show(fig)

# %% [markdown] lang="en"
# **Figure 1.** Left: what is left of a gradient. Right: the size of the numbers that go forward. Both axes are
# logarithmic.
#
# - *Plain*: in a deep stack, hardly any gradient is left for the first layers.
# - *Residual*: the path through the sums lets the gradient pass. But what a block adds is in proportion to what it got,
#   so numbers and gradients grow by a factor with every block.
# - *Residual and LayerNorm*: a block gets vectors of length $\sqrt n$, however large the stream has become, and adds
#   something of fixed size. Growth is slow. Depth takes both: sums for the gradient to pass, norms for the scale.

# %% [markdown] lang="zh"
# **图 1** 左：梯度还剩多少。右：向前传的数值有多大。两个坐标轴都是对数坐标。
#
# - *plain*（没有残差）：网络一深，留给前几层的梯度几乎是 0。
# - *residual*（只有残差）：加法这条路让梯度通过了；但每一块加进来的东西和它收到的成正比，
#   数值和梯度每过一块就大一个倍数。
# - *residual + LayerNorm*：不管残差流变得多大，每一块收到的向量长度都是 $\sqrt n$，加进来的东西大小固定，增长就慢了。
#   所以深的网络两样都要：加法给梯度留出路，LayerNorm 不让数值越滚越大。

# %% [markdown] lang="en"
# ## 3. Every vector by itself
#
# $$ \mathrm{LN}(x) = \frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} \odot \gamma + \beta $$
#
# LayerNorm takes $\mu$ and $\sigma^2$ over the features of *one* vector. BatchNorm takes them over all the vectors of
# the batch, for each feature. Below, a sequence goes through both, once alone and once together with three others.

# %% [markdown] lang="zh"
# ## 3. 每个向量自己归一化
#
# $$ \mathrm{LN}(x) = \frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} \odot \gamma + \beta $$
#
# LayerNorm 的 $\mu$、$\sigma^2$ 是在**一个**向量的各个特征上算的；BatchNorm 则对每个特征，在整批的所有向量上算。
# 下面让同一条序列分别通过两者：一次单独通过，一次和另外三条序列一起通过。

# %%
from handouts.labs import norms

layer_norm = modules_basic.LayerNorm1d(16, backend=backend)
own = generator.standard_normal((1, 6, 16))  # (B, S, D)
company = generator.standard_normal((3, 6, 16)) * 2 + 1
batch = np.concatenate([own, company])  # (4, 6, 16)


def normalised(vectors: np.ndarray) -> np.ndarray:
    """Run LayerNorm on an array."""
    return layer_norm(tensor(vectors, backend)).to_numpy()


layer_change = np.abs(normalised(batch)[:1] - normalised(own)).max()
batch_change = np.abs(norms.batch_norm(batch)[:1] - norms.batch_norm(own)).max()
rows = [("LayerNorm", f"{layer_change:.1f}"), ("BatchNorm", f"{batch_change:.1f}")]
print(figures.table(["norm", "largest change of the output when others join"], rows))
assert layer_change == 0.0, "LayerNorm must not see the rest of the batch"
assert batch_change > 1, "BatchNorm must see the rest of the batch"

# %% [markdown] lang="en"
# For LayerNorm the change is exactly 0. With BatchNorm, what a sentence means would depend on who else is in the batch:
# on their lengths and padding, and on whether the model is run with one sentence, as when it generates token by token.
#
# LayerNorm also forgets the scale of its input: multiply $x$ by 7.5, and mean and standard deviation grow with it. Only
# $\epsilon$ does not, which is there so that a constant vector does not divide by zero. The formula says what this
# makes: with $\delta = x - \mu$, the output changes by
# $\delta\,\big((\sigma^2 + \epsilon/7.5^2)^{-1/2} - (\sigma^2 + \epsilon)^{-1/2}\big)$.

# %% [markdown] lang="zh"
# LayerNorm 的变化恰好是 0。换成 BatchNorm，一句话的表示就会取决于同一批里还有谁：它们多长、补齐了多少；
# 也取决于批里是不是只有它一句，而逐 token 生成时往往就是这样。
#
# LayerNorm 还会忘掉输入的尺度：$x$ 乘以 7.5，均值和标准差也跟着乘 7.5。不跟着变的只有 $\epsilon$
# （它的作用是让常数向量不至于除以 0）。由公式可以算出它的影响：记 $\delta = x - \mu$，输出的变化是
# $\delta\,\big((\sigma^2 + \epsilon/7.5^2)^{-1/2} - (\sigma^2 + \epsilon)^{-1/2}\big)$。

# %%
moved = normalised(batch * 7.5) - normalised(batch)
expected = norms.change_by_scale(batch, 7.5)
print(f"input x 7.5: the output changes by {np.abs(moved).max():.1e} at most")
print(f"the formula says                  {np.abs(expected).max():.1e}")
assert np.abs(moved - expected).max() < 1e-13, "the change must be the one that eps makes"
assert 1e-6 < np.abs(moved).max() < 1e-4, "eps = 1e-5 must make a change of about 1e-5"

# %% [markdown] lang="en"
# ## 4. Before the first step: two places for the norm
#
# $$ \text{Post-LN (2017):}\quad x \leftarrow \mathrm{LN}(x + f(x)) \qquad\qquad
# \text{Pre-LN (GPT-2, HW3):}\quad x \leftarrow x + f(\mathrm{LN}(x)) $$
#
# The difference is whether a norm stands *on* the path of the sums. Two language models begin with the same random
# numbers and differ in nothing else. They read text of a small language about cities (its sentences come in the next
# section), and the gradient of each block's second feed-forward matrix is measured, a mean of three seeds.

# %% [markdown] lang="zh"
# ## 4. 训练之前：LayerNorm 的两个位置
#
# $$ \text{Post-LN（2017）：}\quad x \leftarrow \mathrm{LN}(x + f(x)) \qquad\qquad
# \text{Pre-LN（GPT-2、HW3）：}\quad x \leftarrow x + f(\mathrm{LN}(x)) $$
#
# 区别在于残差这条路**上面**有没有 LayerNorm。下面两个语言模型的初始参数完全相同，别的也没有任何差别。
# 它们读同一段“城市语言”的文本（下一节介绍这种语言），我们量每一层前馈网络第二个矩阵的梯度，取三个种子的平均。

# %%
from handouts.labs import city_training, layer_gradients
from handouts.labs.city_language import city_language, millinats_above_floor

language = city_language()
text = language.draw(generator, 8, city_training.LENGTH)  # (B, S + 1)
PLACES = (city_training.POST, city_training.PRE)
LAYERS = (2, 4, 8, 16, 32)


def mean_gradients(kind: str, n_layer: int) -> np.ndarray:
    """Measure new models of three seeds: (n_layer,)."""
    models = [city_training.language_model(kind, language, 32, n_layer, seed) for seed in range(3)]
    return np.mean([layer_gradients.gradient_norms(model, text, n_layer) for model in models], axis=0)


by_depth = {kind: {n_layer: mean_gradients(kind, n_layer) for n_layer in LAYERS} for kind in PLACES}
last = {kind: [by_depth[kind][n_layer][-1] for n_layer in LAYERS] for kind in PLACES}
rows = [[n_layer, *(f"{last[kind][number]:.2f}" for kind in PLACES)] for number, n_layer in enumerate(LAYERS)]
print("gradient of the last layer\n" + figures.table(["layers", *PLACES], rows))
assert last[city_training.POST][-1] > last[city_training.POST][0], "Post-LN: must not shrink with depth"
assert last[city_training.PRE][-1] < 0.8 * last[city_training.PRE][0], "Pre-LN: must shrink with depth"

# %%
fig, axes = figures.figure(columns=2, height=2.8)
for kind, colour, marker in zip(PLACES, (figures.RED, figures.BLUE), "so", strict=True):
    axes[0].plot(LAYERS, last[kind], marker=marker, color=colour, label=kind)
    axes[1].plot(range(1, 33), by_depth[kind][32], color=colour, label=kind)
axes[0].set(xscale="log", xlabel="layers L", ylabel="gradient of the last layer", ylim=(0, None))
axes[0].set_xticks(LAYERS, LAYERS)
axes[0].minorticks_off()
axes[1].set(xlabel="layer (32 is next to the output)", ylabel="gradient, L = 32", ylim=(0, None))
axes[0].legend()
figures.show(fig)

# %% [markdown] lang="en"
# **Figure 2.** Length of the gradient of `ff.linear_out.weights` in new models. Left: of the last layer, in models of
# different depth. Right: of all layers of the deepest.
#
# With Post-LN, the layers near the output have the largest gradients, and they grow with the depth. With Pre-LN they
# shrink: the last norm divides by the size of a stream to which every layer has added. Xiong et al. (2020) derive it:
# for Pre-LN the last gradient falls like $1/\sqrt L$, for Post-LN it does not fall. The larger the gradient, the more a
# step of the same length changes the loss: a first step that suits Pre-LN can be too long for Post-LN.

# %% [markdown] lang="zh"
# **图 2** 刚初始化的模型里 `ff.linear_out.weights` 的梯度长度。左：不同深度的模型，最后一层的梯度。
# 右：最深的模型，各层的梯度。
#
# Post-LN 靠近输出的层梯度最大，而且模型越深越大。Pre-LN 则相反：残差流一层层累加，越来越大，
# 最后的 LayerNorm 除以它的大小，梯度就变小了。Xiong et al. (2020) 从理论上推出了这一点：Pre-LN 最后一层的梯度
# 按 $1/\sqrt L$ 下降，Post-LN 的不下降。梯度越大，同样长的一步对损失的改变就越大：
# 适合 Pre-LN 的第一步，对 Post-LN 可能就太长了。

# %% [markdown] lang="en"
# ## 5. Training six layers
#
# The **city language** has 56 words and four kinds of sentences:

# %% [markdown] lang="zh"
# ## 5. 训练六层模型
#
# **城市语言**有 56 个词、四种句子：

# %%
for beginning in (
    "in lyon people speak",
    "porto is quiet but leeds is",
    "the train from rome to paris takes",
    "leeds is old",
):
    ids = [language.ids[word] for word in beginning.split()]
    next_up = [f"{language.words[number]} {p:.2f}" for number, p in enumerate(language.next_word(ids)) if p]
    print(f"{beginning} ... {', '.join(next_up)}")

often, chances = language.beginnings()
print(f"\n{len(language.sentences)} sentences; floor {language.floor():.4f} nats a word")

# %% [markdown] lang="en"
# All sentences can be listed with their probabilities. So the true probability of the next word is known after every
# beginning, and with it the entropy: a floor below which no model's cross-entropy can come. A result is given as
# *millinats per word above the floor*, which is 1000 times the mean KL divergence from the true distribution; a perfect
# model has 0.
#
# Six layers, $d = 48$, Adam, 120 steps of 16 pieces of text. The learning rate stays at its peak for 50 steps and then
# falls with $1/\sqrt{\text{step}}$. *With warm-up* it rises to the peak in a line over those 50 steps instead: the
# rates differ in the first 50 steps only.

# %% [markdown] lang="zh"
# 所有句子连同概率都能列出来，所以任何开头之后，下一个词的真实概率都知道，熵也就知道：这是交叉熵的下界，
# 任何模型都低不过它。结果写成**每个词超出下界多少毫 nat**，也就是和真实分布的平均 KL 散度乘以 1000；完美的模型是 0。
#
# 六层，$d = 48$，Adam，120 步，每步 16 段文本。学习率前 50 步保持在峰值，之后按 $1/\sqrt{\text{step}}$ 下降。
# **预热**则是在这 50 步里从 0 线性升到峰值：两种训练的学习率只在前 50 步不同。

# %%
STEPS, PEAK_UNTIL, EVERY = 120, 50, 10


def rates(peak: float, warm_up: bool) -> np.ndarray:
    """Make the learning rate of each step."""
    steps = np.arange(1, STEPS + 1)
    rising = steps / PEAK_UNTIL if warm_up else 1.0
    return peak * np.minimum(rising, np.minimum(1.0, (PEAK_UNTIL / steps) ** 0.5))


def trained(kind: str, peak: float, warm_up: bool) -> tuple[city_training.Run, list[float]]:
    """Train a new model; return the run, and its curve."""
    run = city_training.Run(city_training.language_model(kind, language, 48, 6, seed=1), language, seed=5)
    return run, run.curve(rates(peak, warm_up), EVERY)


# %%
SMALL, LARGE = 2e-3, 2e-2
RUNS = [
    (city_training.POST, SMALL, False),
    (city_training.PRE, SMALL, False),
    (city_training.POST, LARGE, False),
    (city_training.POST, LARGE, True),
    (city_training.PRE, LARGE, False),
]
results = {key: trained(*key) for key in RUNS}

# %% [markdown] lang="en"
# For comparison: a model that knows how often each word occurs, and nothing else.

# %% [markdown] lang="zh"
# 作为对照：一个只知道每个词出现得有多频繁、别的一概不知的模型。

# %% tags=["volatile"]
frequencies = often @ chances  # (N,) @ (N, V) -> (V,)
by_frequency = millinats_above_floor(results[RUNS[0]][0].chances, np.log(frequencies))
rows = [[*key[:2], "yes" if key[2] else "no", f"{results[key][1][-1]:.0f}"] for key in RUNS]
print(figures.table(["layer", "peak rate", "warm-up", "millinats above the floor"], rows))
print(f"\nword frequencies only: {by_frequency:.0f}")

# %%
final = {key: curve[-1] for key, (_, curve) in results.items()}
assert max(final[city_training.POST, SMALL, False], final[city_training.PRE, SMALL, False]) < 500, "both must learn"
assert final[city_training.POST, LARGE, False] > 2000, "Post-LN without warm-up must fail at the large rate"
assert final[city_training.POST, LARGE, True] < 1500, "Post-LN must learn with warm-up"
assert final[city_training.PRE, LARGE, False] < 400, "Pre-LN must learn without warm-up"

# %% tags=["volatile"]
fig, axes = figures.figure(columns=2, height=3.2)
steps = range(0, STEPS + 1, EVERY)
for kind, peak, warm_up in RUNS:
    axis = axes[0 if peak == SMALL else 1]
    colour = {city_training.PRE: figures.BLUE, city_training.POST: figures.RED}[kind]
    label = f"{kind}, warm-up" if warm_up else kind
    axis.plot(steps, results[kind, peak, warm_up][1], "--" if warm_up else "-", color=colour, label=label)
for axis, peak in zip(axes, (SMALL, LARGE), strict=True):
    axis.axhline(by_frequency, color=figures.GREY, linewidth=0.8)
    axis.set(title=f"peak learning rate {peak}", xlabel="step", yscale="log", ylim=(80, 5000))
    axis.legend(loc="lower left")
axes[0].set_ylabel("millinats / word above the floor")
axes[0].text(STEPS, by_frequency * 1.06, "word frequencies only", ha="right", color=figures.GREY, fontsize=8)
figures.show(fig)

# %% [markdown] lang="en"
# **Figure 3.** Six layers on the city language, at a small and at a large learning rate.
#
# At the small rate both learn alike. At the large one, Post-LN without warm-up is destroyed in its first steps: it ends
# where a model ends that knows the frequencies of the words only, and never comes back. With warm-up it learns, though
# restlessly. Pre-LN learns without. The original Transformer is Post-LN, and its schedule begins with a warm-up; GPT-2
# moved the norms, and most language models have followed it.
#
# (The last digits depend on the machine: training is chaotic. The order does not.)

# %% [markdown] lang="zh"
# **图 3** 六层模型在城市语言上的训练，学习率一小一大。
#
# 学习率小时，两者学得一样好。学习率大时，不预热的 Post-LN 在最初几步就被推坏了：它停在“只知道词频”的水平，再也回不来。
# 加上预热，它学得会，只是曲线忽上忽下。Pre-LN 没有预热，照样学会。原论文的 Transformer 是 Post-LN，学习率从预热开始；
# GPT-2 把 LayerNorm 移了位置，后来的语言模型大多跟着它。
#
# （最后几位数字随机器而变：训练是混沌的。高低次序不变。）

# %% [markdown] lang="en"
# ## 6. Why Pre-LN needs one more norm
#
# With Post-LN every block ends with a norm, so its output has size 1, but for the norm's own weights. In a Pre-LN model
# nothing normalises the stream itself: every block adds to it. Here is its root mean square in three of the models that
# have just been trained, and what the two Pre-LN models are worth when their last norm is left out.

# %% [markdown] lang="zh"
# ## 6. 为什么 Pre-LN 的末尾还要一个 LayerNorm
#
# Post-LN 的每一块都以 LayerNorm 结尾，输出的大小是 1（除非 LayerNorm 自己的参数把它改了）。
# Pre-LN 的残差流从头到尾不经过 LayerNorm，每一块只管往里加。
# 下面是刚才训练好的模型中的三个，先看残差流的均方根，再看两个 Pre-LN 模型去掉最后的 LayerNorm 会怎样。

# %% tags=["volatile"]
from handouts.labs import residual_stream

shown = [(city_training.POST, SMALL), (city_training.PRE, SMALL), (city_training.PRE, LARGE)]
sizes = {key: residual_stream.sizes(results[*key, False][0].model, text[:, :-1], 6) for key in shown}
rows = [[*key, *(f"{size:.1f}" for size in sizes[key])] for key in shown]
print("root mean square of the stream\n" + figures.table(["", "rate", *(f"layer {n}" for n in range(1, 7))], rows))

rows = []
for kind, peak in shown[1:]:
    run, curve = results[kind, peak, False]
    bare = residual_stream.logits_without_last_norm(run.model, run.test, 6)
    left_out = millinats_above_floor(run.chances, city_training.log_softmax(bare))
    rows.append([kind, peak, f"{curve[-1]:.0f}", f"{left_out:.0f}"])
    assert left_out > 1.3 * curve[-1], "without its last norm the model must be worse"
    assert sizes[kind, peak][-1] > 1.5 * sizes[kind, peak][0], "the Pre-LN stream must grow"
print("\nmillinats above the floor\n" + figures.table(["", "rate", "with the last norm", "without"], rows))

# %% [markdown] lang="en"
# Without it, the output layer sees numbers whose size depends on the depth and on the training so far, and the logits
# grow with them: many times too large, they are certain of words that are wrong. One LayerNorm after the last block
# (`ln_f` in GPT-2, `DecoderLM.ln` in HW3) makes the size 1 again.

# %% [markdown] lang="zh"
# 没有它，输出层看到的数值有多大，就取决于层数和训练到了哪一步，logits 也跟着变大：大了许多倍，
# 错的词也会被说得十拿九稳。在最后一块之后加一个 LayerNorm（GPT-2 的 `ln_f`，HW3 的 `DecoderLM.ln`），大小就重新回到 1。

# %% [markdown] lang="en"
# ## To think about
#
# 1. In section 2, what would the plain stack do if `Linear` drew its weights with a variance of $2/n$ instead of
#    $1/(3n)$? Try it with 64 layers. Why is this no cure for a Transformer?
# 2. LayerNorm forgets the scale of $x$. What does that mean for the gradient with respect to $x$ when $x$ is large?
#    Look at figure 2 again.
# 3. In section 5, which of the two would you try first for a model of 100 layers, and which for one that must be as
#    good as possible whatever the tuning costs?
#
# ## To read
#
# - Xiong et al. (2020), *On Layer Normalization in the Transformer Architecture*: figures 1 and 3, section 3.3.
# - Ba, Kiros and Hinton (2016), *Layer Normalization*: section 5.1 compares what each normalisation is indifferent to.
# - He et al. (2016), *Identity Mappings in Deep Residual Networks*: the same question, where to put the norm, in
#   vision.

# %% [markdown] lang="zh"
# ## 想一想
#
# 1. 第 2 节里，如果 `Linear` 初始权重的方差不是 $1/(3n)$ 而是 $2/n$，没有残差的网络会怎样？用 64 层试试。
#    为什么这不能解决 Transformer 的问题？
# 2. LayerNorm 会忘掉 $x$ 的尺度。那么 $x$ 很大时，对 $x$ 的梯度会怎样？再看一遍图 2。
# 3. 一个 100 层的模型，你会先试第 5 节里的哪一种？如果不计调参的代价、只求最终效果最好呢？
#
# ## 延伸阅读
#
# - Xiong et al. (2020), *On Layer Normalization in the Transformer Architecture*：图 1、图 3 和第 3.3 节。
# - Ba, Kiros & Hinton (2016), *Layer Normalization*：第 5.1 节比较各种归一化对什么不敏感。
# - He et al. (2016), *Identity Mappings in Deep Residual Networks*：同一个问题（归一化放在哪里）在视觉模型里的答案。
