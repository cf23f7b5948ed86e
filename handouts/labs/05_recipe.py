# %% [markdown] lang="en"
# # Lab 05. The recipe: how a Transformer is trained
#
# Each ingredient of the original recipe, what it does, and what it costs:
#
# - teacher forcing: all losses of a sentence from one forward pass, and what a model is never shown by it;
# - label smoothing: what it asks for, and what it costs exactly;
# - batches of like length; the learning rate with its warm-up; Adam's first step, which is why there is one;
# - the mean of the last checkpoints, and the limit on the length of an output.
#
# Lecture 6, section 7. The lab needs NumPy and Matplotlib and runs in about 20 seconds. All numbers of the original
# recipe stand in one table at the end of lab 06.

# %% [markdown] lang="zh"
# # 实验 05：训练配方
#
# 原论文训练配方里的每一项，起什么作用，代价是什么：
#
# - teacher forcing：一次前向得到一句话的所有损失，以及模型因此从来没见过什么；
# - 标签平滑：它要求模型做什么，精确的代价是多少；
# - 按长度分批；带预热的学习率；Adam 的第一步——为什么需要预热；
# - 最后几个检查点的平均，以及输出长度的上限。
#
# 对应第 6 讲第 7 节。只需要 NumPy 和 Matplotlib，运行约 20 秒。原论文配方里的全部数字，列在实验 06 末尾的一张表里。

# %%
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy: on small matrices, threads wait more than they work

import numpy as np

from assignment.framework import Module, Tensor, TensorBackend, average_checkpoints, tensor, warmup_learning_rate
from handouts.labs import city_training, figures
from handouts.labs.city_language import city_language, perplexity
from handouts.labs.course import transformer

generator = np.random.default_rng(5)
language = city_language()

# %% [markdown] lang="en"
# ## 1. Teacher forcing
#
# A language model is trained to give each word of a text a high probability after the *true* words before it. The
# labels are the text, shifted by one:

# %% [markdown] lang="zh"
# ## 1. Teacher forcing
#
# 训练语言模型，就是让文本里的每个词在它前面那些**真实的**词之后有很高的概率。标签就是错开一位的原文：

# %%
sentence = ". madrid is the capital of spain ."
ids = np.array([language.ids[word] for word in sentence.split()])
print(
    figures.table(["input", "label"], zip(language.text(ids[:-1]).split(), language.text(ids[1:]).split(), strict=True))
)

# %% [markdown] lang="en"
# Because of the causal mask, position $t$ of *one* forward pass sees words $1 \ldots t$ and nothing else. So it gives
# what a forward pass of that prefix alone would give. Compare, with a new model in float64:

# %% [markdown] lang="zh"
# 有了因果掩码，**一次**前向里的位置 $t$ 只看得到第 $1 \ldots t$ 个词，结果和只用这个前缀单独做一次前向完全一样。
# 用一个刚初始化的 float64 模型比一比：

# %%
from handouts.labs import teacher_forcing

exact = transformer.DecoderLM(len(language.words), 32, 4, 24, 0.0, backend=TensorBackend(np, "float64", 0), n_layer=2)
forwards = []
forget = exact.register_forward_hook(lambda _module, inputs, _output: forwards.append(inputs[0].shape[1]))
together = teacher_forcing.at_once(exact, ids)
count = len(forwards)
apart = teacher_forcing.prefix_by_prefix(exact, ids)
forget()

difference = np.abs(together - apart).max()
rows = [("at once", count, sum(forwards[:count])), ("prefix by prefix", len(forwards) - count, sum(forwards[count:]))]
print(figures.table(["", "forwards", "words read"], rows))
assert difference < 1e-14, "one forward must give what the prefixes' forwards give"
print("largest difference of a log-probability: below 1e-14")
assert [count, len(forwards) - count] == [1, 7], "seven labels must take one forward instead of seven"

# %% [markdown] lang="en"
# While training, the whole sentence is known, and its positions are computed side by side. When the model writes, the
# next input is its own last output, and it must write one word after the other.

# %% [markdown] lang="zh"
# 训练时整句话是已知的，所有位置可以同时算。生成时，下一个输入就是模型自己刚刚的输出，只能一个词一个词地来。

# %% [markdown] lang="en"
# ## 2. What teacher forcing never shows: exposure bias
#
# So a model in training reads true text only, and in use it reads what it wrote itself, mistakes included. In the city
# language, mistakes can be counted: at each place it is known which words are possible. Let $e$ be the probability that
# a model gives, after *true* words, to words that are impossible. If a sentence of $n$ words is to have no mistake, all
# $n$ words must be right: about $(1-e)^n$ of the sentences.
#
# A model of two layers learns the language; now and then it writes 400 sentences.

# %% [markdown] lang="zh"
# ## 2. Teacher forcing 没教过的：exposure bias
#
# 训练时模型读的都是真实文本，使用时读的却是自己写的东西，错误也在其中。在城市语言里，错误可以数出来：
# 每个位置上哪些词可能出现是已知的。设 $e$ 是模型在**真实**前缀之后分给“不可能出现的词”的概率。
# $n$ 个词的句子要没有错，$n$ 个词都得对：大约有 $(1-e)^n$ 的句子能做到。
#
# 让一个两层模型学这种语言，隔一段时间让它写 400 句话。

# %% tags=["volatile"]
from handouts.labs import free_running

PEAK = 6e-3
runs = {
    seed: city_training.Run(city_training.language_model(city_training.PRE, language, 32, 2, seed), language, seed)
    for seed in (1, 2)
}
curves = {1: runs[1].curve([PEAK] * 400, 50), 2: [runs[2].above_floor()]}

# %% tags=["volatile"]
mean_length = language.probabilities @ [len(sentence) for sentence in language.sentences]
rows, done = [], 0
for steps in (100, 200, 400):
    curves[2] += runs[2].curve([PEAK] * (steps - done), 50)[1:]
    done, wrong = steps, free_running.impossible_mass(runs[2])
    written = free_running.write(runs[2].model, generator, 400, 16).tolist()
    mistakes = [free_running.first_mistake(language, ids) for ids in written]
    right = mistakes.count(None) / len(mistakes)
    rows.append((steps, f"{curves[2][-1]:.0f}", f"{wrong:.1%}", f"{(1 - wrong) ** mean_length:.0%}", f"{right:.0%}"))
print(figures.table(["step", "millinats", "e", "(1 - e)^n", "sentences right"], rows))
spoilt = [pair for pair in zip(written, mistakes, strict=True) if pair[1] is not None]
print(*(free_running.marked(language, *pair) for pair in spoilt[:4]), sep="\n")

# %% [markdown] lang="en"
# The brackets mark a sentence's first mistake. At the end, $e$ is a few per cent, and it spoils about every fourth
# sentence: small errors add up over a sentence. That is one half of the matter. The other half is what follows: the
# model goes on as if nothing had happened, after a beginning that no training text has, and no loss ever told it what
# to do there. This is *exposure bias* (lecture 9 comes back to it).

# %% [markdown] lang="zh"
# 方括号标出一句话里的第一个错误。训练到最后 $e$ 只有百分之几，却让大约四分之一的句子出错：小错误在整句话上会累积。
# 这是问题的一半。另一半是之后的事：模型若无其事地往下写，而这样的开头在训练文本里从来没有出现过，
# 也没有哪个损失教过它这时该怎么办。这就是 *exposure bias*（第 9 讲还会谈到）。

# %% [markdown] lang="en"
# ## 3. Label smoothing: what it asks for
#
# A one-hot target can only be met by a softmax whose logits differ by infinity. Label smoothing takes a little
# probability $\epsilon$ from the right class and spreads it. Two conventions share the name:
#
# | | right class | each other class | used by |
# |---|---|---|---|
# | *others* | $1-\epsilon$ | $\epsilon/(V-1)$ | the slides |
# | *all* | $1-\epsilon+\epsilon/V$ | $\epsilon/V$ | PyTorch's `label_smoothing` |
#
# Here are both for $V = 10$, right class 3, $\epsilon = 0.1$. The gradient of the loss is softmax minus target in
# either.

# %% [markdown] lang="zh"
# ## 3. 标签平滑：它要求什么
#
# 目标是独热向量时，只有 logits 的差趋于无穷，softmax 才能达到它。标签平滑从正确类里拿出一点概率 $\epsilon$，
# 分给别的类。同一个名字有两种约定：
#
# | | 正确类 | 其余每一类 | 谁在用 |
# |---|---|---|---|
# | *others* | $1-\epsilon$ | $\epsilon/(V-1)$ | slides |
# | *all* | $1-\epsilon+\epsilon/V$ | $\epsilon/V$ | PyTorch 的 `label_smoothing` |
#
# 下面取 $V = 10$、正确类 3、$\epsilon = 0.1$。两种约定下，损失的梯度都是 softmax 减去目标。

# %%
from handouts.labs import smoothed_targets

RIGHT, EPS = 3, 0.1
logits = generator.standard_normal(10)
softmax = np.exp(logits) / np.exp(logits).sum()
targets = {}
for convention in (smoothed_targets.OTHERS, smoothed_targets.ALL):
    target = targets[convention] = smoothed_targets.target(10, RIGHT, EPS, convention)
    gradient = smoothed_targets.gradient(logits, RIGHT, EPS, convention)
    assert np.abs(gradient - (softmax - target)).max() < 1e-14, "the gradient must be softmax - target"
    print(f"{convention:>6}: right class {target[RIGHT]:.4f}, others {target[0]:.4f}")
assert np.allclose([targets["others"][RIGHT], targets["others"][0]], [0.9, 0.1 / 9], atol=1e-12), "the slides' target"
assert np.allclose([targets["all"][RIGHT], targets["all"][0]], [0.91, 0.01], atol=1e-12), "PyTorch's target"

gap = smoothed_targets.best_gap(37000, EPS)
print(f"best gap between the right logit and the others, V = 37000: {gap:.2f}")
assert abs(gap - 12.72) < 0.005, "log(0.9 * 36999 / 0.1) must be 12.72"

# %% [markdown] lang="en"
# With smoothing, the best logits are finite: with the paper's vocabulary, the right one is ahead by
# $\log\frac{(1-\epsilon)(V-1)}{\epsilon} = 12.72$, and a larger lead is *pushed back*.

# %% [markdown] lang="zh"
# 有了平滑，最优的 logits 就是有限的：按原论文的词表大小，正确类只需领先
# $\log\frac{(1-\epsilon)(V-1)}{\epsilon} = 12.72$，领先得更多反而会被**推回来**。

# %% [markdown] lang="en"
# ## 4. Label smoothing: what it costs
#
# Let $p$ be the true distribution of the next word. A model that learns the smoothed loss without error ends at the
# mean smoothed target: $q^* = (1-\epsilon)\,p + \epsilon/V$ in PyTorch's convention. For the city language $p$ is known
# after every beginning of a sentence, so the cost is a sum, not an estimate:
#
# $$ \sum_{\text{beginnings}} P(\text{beginning}) \; \mathrm{KL}(p \,\Vert\, q^*). $$

# %% [markdown] lang="zh"
# ## 4. 标签平滑：代价是多少
#
# 设 $p$ 是下一个词的真实分布。用平滑损失训练到最优，模型给出的是平滑目标的期望：按 PyTorch 的约定，
# $q^* = (1-\epsilon)\,p + \epsilon/V$。城市语言里，每个开头之后的 $p$ 都是已知的，所以代价是一个确切的和，而不是估计：
#
# $$ \sum_{\text{开头}} P(\text{开头}) \; \mathrm{KL}(p \,\Vert\, q^*). $$

# %%
from handouts.labs.city_language import expected_above_floor

often, chances = language.beginnings()  # (N,), (N, V)


def smoothing_cost(eps: float, convention: str = smoothed_targets.ALL) -> tuple[float, int]:
    """Compute the cost in millinats a word, and at how many beginnings the likeliest word is another one."""
    answers = smoothed_targets.best_answer(chances, eps, convention)
    changed = (answers.argmax(axis=1) != chances.argmax(axis=1)).sum()
    return expected_above_floor(often, chances, np.log(answers)), int(changed)


rows = []
for eps in (0.05, 0.1, 0.2):
    (cost, changed), (cost_others, _) = smoothing_cost(eps), smoothing_cost(eps, smoothed_targets.OTHERS)
    assert changed == 0, "smoothing must not change the likeliest word"
    perplexities = [f"{perplexity(language.floor() + above / 1000):.3f}" for above in (0, cost)]
    rows.append([eps, f"{cost:.1f}", f"{cost_others:.1f}", *perplexities, changed])
headings = ["eps", "cost, all", "cost, others", "perplexity", "smoothed", "argmax changed"]
print(figures.table(headings, rows))
assert 90 < smoothing_cost(0.1)[0] < 110, "eps = 0.1 must cost about 100 millinats"

# %%
grid = np.linspace(0.001, 0.3, 60)
fig, axis = figures.figure(width=5.5, height=2.8)
axis.plot(grid, [smoothing_cost(eps)[0] for eps in grid], label="exact, city language")
axis.plot(grid, -1000 * np.log(1 - grid), "--", color=figures.GREY, label="$-1000\\,\\log(1-\\epsilon)$")
axis.plot([0.1], [smoothing_cost(0.1)[0]], "o", color=figures.BLUE)
axis.set(xlabel="$\\epsilon$", ylabel="millinats / word above the floor", xlim=(0, 0.3), ylim=(0, None))
axis.legend()
figures.show(fig)

# %% [markdown] lang="en"
# **Figure 1.** The cost of label smoothing. The dashed line is the cost of a word that is certain, if it gets
# $1-\epsilon$ instead of 1.
#
# Since $(1-\epsilon)p + \epsilon/V$ grows with $p$, the likeliest word is the same at every place; what suffers is the
# perplexity. Vaswani et al. (2017) report that smoothing "hurts perplexity" but improves accuracy and BLEU. That is a
# fair price where the choice of words counts, and a poor bargain where the probabilities do, as in pre-training.

# %% [markdown] lang="zh"
# **图 1** 标签平滑的代价。虚线是“确定无疑的词”的代价，假设它得到的概率从 1 变成 $1-\epsilon$。
#
# $(1-\epsilon)p + \epsilon/V$ 随 $p$ 递增，所以每个位置上最可能的词都没有变，受损的只是困惑度。
# Vaswani et al. (2017) 报告说，平滑损害困惑度，却提高准确率和 BLEU。看重选词时，这个代价付得起；
# 看重概率本身时（例如预训练），就划不来了。

# %% [markdown] lang="en"
# ## 5. Batches of like length
#
# A batch is as long as its longest sentence; the rest is padding, which is computed and thrown away. The sentences of
# the city language have 6 to 16 words. Put 20,000 of them into batches of 32 in three ways: at random; sorted within
# groups of 20 batches, as the loop that trains your translator does; sorted as a whole, and the batches shuffled.

# %% [markdown] lang="zh"
# ## 5. 按长度分批
#
# 一批有多长，由其中最长的句子决定；其余都是补齐，算了也白算。城市语言的句子有 6 到 16 个词。把 20,000 句按三种办法
# 分成每批 32 句：随机；在每 20 批之内按长度排序（训练你的翻译模型的循环就是这样做的）；整体按长度排序，再打乱批的顺序。

# %%
from assignment.training.batches import epoch_order
from handouts.labs import padding

drawn = generator.choice(len(language.sentences), p=language.probabilities, size=20_000)
lengths = np.array([len(language.sentences[number]) for number in drawn])
orders = {
    "at random": padding.cut(generator.permutation(len(lengths)), 32),
    "sorted in groups of 20 batches": epoch_order(lengths, 32, 0, generator),
    "sorted as a whole": padding.by_length(lengths, 32, generator),
}
shares = {name: padding.padding_share(lengths, order) for name, order in orders.items()}
print(figures.table(["batches", "padding"], [(name, f"{share:.1%}") for name, share in shares.items()]))
assert shares["at random"] > 0.3, "random batches must be padded by a third or more"
assert shares["sorted as a whole"] < 0.005, "sorted batches must hold almost no padding"

# %% [markdown] lang="en"
# Sorting the whole saves the most, but then the same sentences share a batch in every epoch; groups of a fresh shuffle
# avoid that. Without shuffling the batches at the end, a model would read all the short sentences first.

# %% [markdown] lang="zh"
# 整体排序最省，但每一轮里总是同样的句子凑成一批；先打乱、再分组排序，就没有这个问题。最后如果不打乱批的顺序，
# 模型就会先读完所有短句，再读长句。

# %% [markdown] lang="en"
# ## 6. The learning rate
#
# $$ \mathrm{lr}(\mathrm{step}) = d^{-0.5} \cdot \min\big(\mathrm{step}^{-0.5},\ \mathrm{step} \cdot
# \mathrm{warmup}^{-1.5}\big), \qquad \mathrm{warmup} = 4000 $$
#
# Up in a line, then down with the root of the step. The two pieces meet at step = warmup.

# %% [markdown] lang="zh"
# ## 6. 学习率
#
# $$ \mathrm{lr}(\mathrm{step}) = d^{-0.5} \cdot \min\big(\mathrm{step}^{-0.5},\ \mathrm{step} \cdot
# \mathrm{warmup}^{-1.5}\big), \qquad \mathrm{warmup} = 4000 $$
#
# 先线性上升，再按步数的平方根下降；两段在 step = warmup 处相接。

# %%
EXPECTED = {2000: 3.49e-4, 4000: 6.99e-4, 16_000: 3.49e-4, 100_000: 1.40e-4}
print(figures.table(["step", "rate, d = 512"], [(step, f"{warmup_learning_rate(step, 512):.2e}") for step in EXPECTED]))
for step, rate in EXPECTED.items():
    assert abs(warmup_learning_rate(step, 512) - rate) < 0.005 * 10**-4 * 1.01, f"the rate at {step} must be {rate}"
ratio = warmup_learning_rate(4000, 512) / warmup_learning_rate(4000, 1024)
assert abs(ratio - 2**0.5) < 1e-12, "twice the width must make the peak smaller by the root of 2"

fig, axis = figures.figure(width=5.5, height=2.8)
steps = np.arange(1, 40_001, 50)
for n_embd in (512, 1024):
    axis.plot(steps, [1e4 * warmup_learning_rate(int(step), n_embd) for step in steps], label=f"d = {n_embd}")
marked = [2000, 4000, 16_000]
axis.plot(marked, [1e4 * warmup_learning_rate(step, 512) for step in marked], "o", color=figures.BLUE)
axis.set(xlabel="step", ylabel="learning rate / $10^{-4}$", ylim=(0, None))
axis.legend()
figures.show(fig)

# %% [markdown] lang="en"
# **Figure 2.** The schedule of the base model ($d = 512$) and of the big one. The dots are steps 2000, 4000 and 16,000:
# half of the peak is reached at half of the warm-up, and again at four times the warm-up.

# %% [markdown] lang="zh"
# **图 2** base 模型（$d = 512$）和 big 模型的学习率。圆点是第 2000、4000、16000 步：预热到一半时是峰值的一半，
# 步数到预热的四倍时又回到峰值的一半。

# %% [markdown] lang="en"
# ## 7. Adam's first step
#
# Adam divides the mean of the gradients by the root of the mean of their squares, each corrected for its start at zero.
# After *one* gradient $g$ the means are $\hat m = g$ and $\hat v = g^2$, and the step is
#
# $$ \mathrm{lr} \cdot \frac{g}{|g| + \epsilon} \approx \mathrm{lr} \cdot \mathrm{sign}(g), $$
#
# however small $g$ is. Below, twenty parameters get gradients from $10^{-6}$ to $10^3$ of both signs.

# %% [markdown] lang="zh"
# ## 7. Adam 的第一步
#
# Adam 用梯度的均值除以“梯度平方的均值”的平方根，两个均值都做了偏差修正。只看过**一个**梯度时，两个均值都由它决定：
# $\hat m = g$、$\hat v = g^2$，更新量是
#
# $$ \mathrm{lr} \cdot \frac{g}{|g| + \epsilon} \approx \mathrm{lr} \cdot \mathrm{sign}(g), $$
#
# 不管 $g$ 有多小。下面让 20 个参数收到从 $10^{-6}$ 到 $10^3$、正负都有的梯度。

# %%
from handouts.labs import first_steps

sizes = 10.0 ** np.arange(-6, 4)
gradients = np.concatenate([sizes, -sizes])
first = first_steps.moves(gradients[None])[0]
rows = [
    [f"{size:.0e}", f"{up:.4f}", f"{down:.4f}"] for size, up, down in zip(sizes, first[:10], first[10:], strict=True)
]
print(figures.table(["|g|", "step / lr, g > 0", "step / lr, g < 0"], rows[::3]))
assert np.abs(first - np.sign(gradients)).max() < 1.1e-3, "the first step must be lr sign(g)"

noise = generator.standard_normal((300, 1000))  # gradients that point nowhere
spread = np.sqrt((first_steps.moves(noise) ** 2).mean(axis=1))  # (steps,)
shown = (1, 2, 5, 10, 30, 100, 300)
print()
print(figures.table(["step", "move / lr in pure noise"], [(step, f"{spread[step - 1]:.2f}") for step in shown]))
assert abs(spread[0] - 1) < 1e-6, "even noise must make a full first step"
assert abs(spread[-50:].mean() - first_steps.settled()) < 0.01, "later noise must make sqrt((1 - b1) / (1 + b1))"

# %%
fig, axis = figures.figure(width=5.5, height=2.8)
axis.plot(range(1, 101), spread[:100], label="move of a parameter")
axis.axhline(first_steps.settled(), linestyle="--", color=figures.GREY, label=r"$\sqrt{(1-\beta_1)/(1+\beta_1)}$")
axis.set(xlabel="step", ylabel="root mean square / lr", ylim=(0, 1.05), xlim=(0, 100))
axis.legend()
figures.show(fig)

# %% [markdown] lang="en"
# **Figure 3.** How far Adam moves a parameter whose gradients are pure noise, in units of the learning rate.
#
# In the end noise nearly cancels: a move is 0.23 of the learning rate. In its first steps Adam knows too little to see
# that it is noise, and moves *every* parameter by the whole learning rate, in a direction that a single batch gave. A
# warm-up makes these steps small. (Liu et al. 2020 draw the same conclusion from the variance of $1/\sqrt{\hat v}$.)

# %% [markdown] lang="zh"
# **图 3** 梯度是纯噪声时，Adam 每一步把参数移动多远（以学习率为单位）。
#
# 时间长了，噪声大多互相抵消：每步只走学习率的 0.23 倍。最初几步里，Adam 看到的太少，认不出这是噪声，
# 于是让**每个**参数都走满整整一个学习率，方向只由一个小批量决定。预热就是让这几步小一些。
# （Liu et al. 2020 从 $1/\sqrt{\hat v}$ 的方差得到同样的结论。）

# %% [markdown] lang="en"
# ## 8. The mean of the last checkpoints
#
# At a constant learning rate the parameters never come to rest: every batch pushes them a little its own way. One cure
# is to lower the rate at the end. The other costs nothing: save a checkpoint now and then, and take the mean of the
# last few. Both models of section 2 go on for 250 steps from step 400, twice: at the constant rate, with a checkpoint
# every 50 steps; and with a rate that falls in a line to 0.

# %% [markdown] lang="zh"
# ## 8. 最后几个检查点的平均
#
# 学习率不变，参数就静不下来：每个批次都把它朝自己的方向推一点。一个办法是最后把学习率降下来；另一个办法不花任何代价：
# 隔一段时间存一个检查点，把最后几个的参数平均。第 2 节的两个模型从第 400 步出发，再训练 250 步，做两遍：
# 一遍学习率不变，每 50 步存一个检查点；一遍学习率线性降到 0。

# %% tags=["volatile"]
from assignment.training import moments

falling, averages = {}, {}
for seed, run in runs.items():
    start, adam = run.model.state(), moments.state_of(run.model, run.optimizer)
    checkpoints = []
    for _ in range(5):
        curves[seed] += run.curve([PEAK] * 50, 50)[1:]
        checkpoints.append(run.model.state())
    run.model.load_state(average_checkpoints(checkpoints))
    averages[seed] = run.above_floor()

    run.model.load_state(start)
    moments.restore(run.model, run.optimizer, adam, run.model.backend)
    falling[seed] = run.curve([PEAK * (1 - step / 250) for step in range(250)], 50)

# %% tags=["volatile"]
rows = []
for seed in runs:
    last, end = curves[seed][-5:], falling[seed][-1]
    rows.append([seed, *(f"{one:.0f}" for one in (*last, averages[seed], end))])
    assert averages[seed] < np.mean(last), "the mean of the checkpoints must be better than they are on average"
    assert averages[seed] < 1.5 * end, "it must be about as good as a rate that falls"
headings = ["seed", *range(450, 651, 50), "their mean", "rate to 0"]
print("millinats above the floor after step\n" + figures.table([*map(str, headings)], rows))

# %% tags=["volatile"]
fig, axes = figures.figure(columns=2, height=2.9)
for axis, seed in zip(axes, runs, strict=True):
    axis.plot(range(200, 651, 50), curves[seed][4:], "o-", color=figures.RED, label="constant rate")
    axis.plot(range(400, 651, 50), falling[seed], "s-", color=figures.BLUE, label="rate falls to 0")
    axis.plot([650], [averages[seed]], "*", color=figures.GREEN, markersize=13, label="mean of the last five")
    axis.set(title=f"seed {seed}", xlabel="step", ylim=(0, None))
axes[0].set_ylabel("millinats / word above the floor")
axes[1].legend()
figures.show(fig)

# %% [markdown] lang="en"
# **Figure 4.** The star is the model whose parameters are the mean of the last five red dots.
#
# The mean is better than most or all of the models that it is made of, and about as good as a falling rate, for which
# one must know beforehand when to stop. The original takes the last 5 checkpoints for the base model, 10 minutes apart,
# and 20 for the big one.

# %% [markdown] lang="zh"
# **图 4** 星号是把最后五个红点的参数平均得到的模型。
#
# 平均之后比参与平均的大多数（甚至每一个）模型都好，和把学习率降到 0 差不多；而后者得事先知道什么时候停。
# 在原论文里，base 用最后 5 个来平均，每个相隔 10 分钟；big 用 20 个。

# %% [markdown] lang="en"
# ## 9. An output must end
#
# A translation ends when the model says so. A model that does not must be stopped: the original allows the source's
# length + 50 tokens. Here is one that never says the end, and one that says it at once.

# %% [markdown] lang="zh"
# ## 9. 输出总要结束
#
# 译文在模型说“结束”时结束。不肯结束的模型也得停下来：原论文规定输出不超过源句长度 + 50。
# 下面一个模型永远不说“结束”，另一个马上就说。

# %%
from handouts.labs import output_limit

STOP = 0


class Stubborn(Module):
    """Says the same word at every position, whatever it reads."""

    def __init__(self, word: int) -> None:
        super().__init__()
        self.word = word

    def forward(self, idx: Tensor) -> Tensor:
        """Score 5 words: ids (B, S) -> logits (B, S, 5)."""
        return tensor(np.broadcast_to(np.eye(5)[self.word], (*idx.shape, 5)))


for length in (4, 10):
    sources = np.full((1, length), 2)
    endless, short = (output_limit.outputs(Stubborn(word), sources, STOP, exact.backend)[0] for word in (3, STOP))
    print(f"source of {length:2} tokens: output of {len(endless)} tokens, or of {len(short)}")
    assert [len(endless), len(short)] == [length + 50, 0], "an output must have the source's length + 50 tokens at most"

# %% [markdown] lang="en"
# ## To think about
#
# 1. Take the mean of the parameters of the two models of section 8, which began with different seeds. What do you
#    expect, and why does it not contradict figure 4?
# 2. Section 4 supposes a model that learns its loss without error. A real one has learned on a few sentences of a large
#    language. What might smoothing do for it that the cost does not show?
# 3. Adam's first step is as long for a gradient of $10^{-6}$ as for one of $10^3$. Which parameters of a Transformer
#    have very small gradients at first, and what would a full step do to them?
#
# ## To read
#
# - Vaswani et al. (2017), *Attention Is All You Need*: section 5, the whole recipe.
# - Müller, Kornblith and Hinton (2019), *When Does Label Smoothing Help?*
# - Liu et al. (2020), *On the Variance of the Adaptive Learning Rate and Beyond*: section 3.
# - Bengio et al. (2015), *Scheduled Sampling for Sequence Prediction with Recurrent Neural Networks*: a cure for
#   exposure bias, from before the Transformer.

# %% [markdown] lang="zh"
# ## 想一想
#
# 1. 把第 8 节两个模型（初始种子不同）的参数平均，会得到什么？为什么这和图 4 不矛盾？
# 2. 第 4 节假设模型把损失学到了最优。真实的模型只见过一门大语言里的少量句子。平滑可能给它带来什么好处，
#    是这个代价里看不出来的？
# 3. Adam 的第一步，对 $10^{-6}$ 的梯度和对 $10^3$ 的梯度走得一样远。Transformer 里哪些参数一开始梯度很小？
#    让它们走满一步会怎样？
#
# ## 延伸阅读
#
# - Vaswani et al. (2017), *Attention Is All You Need*：第 5 节，完整的训练配方。
# - Müller, Kornblith & Hinton (2019), *When Does Label Smoothing Help?*
# - Liu et al. (2020), *On the Variance of the Adaptive Learning Rate and Beyond*：第 3 节。
# - Bengio et al. (2015), *Scheduled Sampling for Sequence Prediction with Recurrent Neural Networks*：
#   Transformer 出现之前缓解 exposure bias 的一个办法。
