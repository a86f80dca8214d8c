"""Small faults in the source, as data: what a hurried change might do to it, and which default tests notice.

By file, below ``src/praemia``: what is wrong, the text that stands there exactly once, what takes its place, and test
files, or single tests in them, below ``tests``.
"""

from __future__ import annotations

from typing import NamedTuple


class Fault(NamedTuple):
    """One small change that makes the package wrong."""

    file: str
    what: str
    text: str
    becomes: str
    tests: str  # separated by spaces

    @property
    def name(self) -> str:
        return f"{self.file}: {self.what}"


REPAIR = "kernels/test_repair.py"
CHOICES = "kernels/test_choices.py"
EXACT = "planning/test_exact.py"
Q_LEARNING = "learners/test_q_learning.py"
OPTIMUM = f"{EXACT}::test_the_optimum_is_that_of_the_explicit_product"
POLICIES = f"{EXACT}::test_a_policy_is_worth_what_it_is_in_the_product_and_no_more_than_the_optimum"
OCCUPANCY = f"{EXACT}::test_occupancy_is_that_of_the_product_and_accounts_for_the_value"
ROWS = "kernels/test_rows.py"
FORMULAS = "learners/test_plans_against_formulas.py"
BY_FORMULA = f"{FORMULAS}::test_plans_are_those_of_the_formulas"
UCBVI = f"{BY_FORMULA}[ucbvi-prm] {BY_FORMULA}[ucbvi]"
MONOTONE = f"{FORMULAS}::test_plans_never_rise_above_the_plans_before"
EULER = f"{BY_FORMULA}[euler]"
MATTERS = f"{FORMULAS}::test_plans_for_a_task_in_which_everything_matters_are_those_of_the_formulas"
TIES = f"{FORMULAS}::test_equal_best_actions_are_drawn_uniformly"
MATTERS_TO_HEADROOM = "learners/test_headroom.py::test_a_plan_for_a_task_in_which_everything_matters_is_its_formula"
SIMULATE = "simulation/test_simulate.py"
UNTIL_DONE = "simulation/test_until_done.py"
AT_ONCE = "simulation/test_at_once.py"
SHOWN = f"{SIMULATE}::test_what_a_learner_is_shown_adds_up"
REPLAY = f"{SIMULATE}::test_a_run_is_its_plain_replay_and_the_same_in_one_compiled_loop"
PLANS = f"{SIMULATE}::test_the_value_of_every_plan_is_that_of_its_policy"
REGRET = f"{SIMULATE}::test_regret_never_falls_and_is_the_sum_of_what_each_policy_lacks"
LAWS = f"{SIMULATE}::test_starts_and_rewards_are_drawn_from_their_laws"
ONE_LOOP = f"{SIMULATE}::test_a_run_in_one_compiled_loop_is_the_one_that_asks_for_each_plan"
SEEDS = "simulation/test_seeds.py"
BOX = "simulation/test_black_box.py"
BOX_COUNTS = "simulation/test_box_counts.py"
BOX_PLANS = f"{BOX}::test_plans_are_made_when_they_are_due"
DATASETS = "exploration/test_datasets.py"
DISCOUNTED_PLANS = "exploration/test_discounted_plans.py"
MERGING = f"{DATASETS}::test_merging_adds_up"
COUNTERFACTUALS = "deep/test_counterfactuals.py"
ESTIMATE = f"{DATASETS}::test_the_estimate_is_the_frequency_and_unvisited_pairs_pay_the_least_that_is_possible"
EXPLORING = "exploration/test_exploring.py"
DISTANCE = (
    "exploration/test_certificates.py::test_the_largest_distance_is_the_worst_policys_sum_when_nothing_is_cut_off"
)
HISTORIES = "exploration/test_trajectory_rewards.py"
INFER = "inference/test_infer.py"
ARITHMETIC = "test_arithmetic.py"
FORBIDDEN = f"{ARITHMETIC}::test_nothing_that_enters_a_run_is_computed_by_blas_or_by_vector_mathematics"
PROCESSORS = "simulation/test_processors.py::test_on_one_machine_bits_depend_on_no_blas_dispatch_or_compiler"
RULES = "machines/test_rules.py"
FROM_FORMULAS = "machines/test_machines_from_formulas.py"
WRAPPER = "envs/test_machine_wrapper.py"
EQUAL = "machines/test_equal_machines.py"
TAKEN = "machines/test_potential_and_difference.py"

# fmt: off
TABLE: dict[str, list[tuple[str, str, str, str]]] = {
    "kernels/rows.py": [
        ("a reward is read from the first lane", "total = load(zero, paid, label * width + lane)",
         "total = load(zero, paid, label * width)", ROWS),
        ("every row has the first label", 'label, here = np.int64(extra_rows[x]["label"])',
         'label, here = np.int64(extra_rows[0]["label"])', ROWS),
        ("a common target is forgotten", "* values[start + common]", "* values[start]", ROWS),
    ],
    "kernels/exact.py": [
        ("machine states after the sixteenth are not filled", "for lane in range(0, width, lanes):",
         "for lane in range(0, width - width % lanes, lanes):", ROWS),
        ("the last of equally good actions is taken", "better = total > best", "better = total >= best",
         f"{EXACT}::test_among_equally_good_actions_the_first_is_taken"),
        ("machine states after the last whole vector are left out", "for block in range(0, width, lanes):",
         "for block in range(0, width - width % lanes, lanes):", OPTIMUM),
        ("the last successor of a policy's pair is lost", "np.uint64(indptr[pair + np.uint64(1)])",
         "np.uint64(max(indptr[pair] + 1, indptr[pair + np.uint64(1)] - 1))", POLICIES),
        ("the probability of an action is forgotten", "total += share * mean_value(", "total = mean_value(", POLICIES),
        ("the machine moves for sure", "mass * model.probs[e] * probs[j]", "mass * model.probs[e]", OCCUPANCY),
        ("the value at the start is that of the last start", 'total += starts[i]["prob"] * table', "total = table",
         REPLAY),
        ("values are computed only where the first step can be", "for i in range(values.until[h]):",
         "for i in range(values.until[0]):", PLANS),
    ],
    "kernels/play.py": [
        ("the start distribution is lost",
         'starts[sample(starts["sum"], np.int64(0), np.int64(starts.shape[0]), chance)]',
         "starts[0]", f"{LAWS} {REPLAY}"),
        ("the last observation is counted at the first step", 'step_visits[length, progress["o"]] += 1',
         'step_visits[0, progress["o"]] += 1', SHOWN),
        ("the machine stays where it is", "o, m = z, m_next", "o, m = z, m", REPLAY),
        ("a random reward is its first value",
         'sample(world.rewards["sum"], world.reward_indptr[j], world.reward_indptr[j + 1], chance)',
         "world.reward_indptr[j]",
         f"{LAWS} {REPLAY}"),
        ("a uniform reward is its lower end", 'piece["width"] * next_number(chance)', "0.0 * next_number(chance)",
         "simulation/test_reward_units.py::test_uniform_rewards_are_drawn_from_their_interval"),
        ("a choice among many takes the wrong half", "if number < sums[middle - 1]:",
         "if number < sums[middle]:",
         f"{CHOICES}::test_a_draw_is_the_first_place_whose_running_sum_exceeds_the_number"),
        ("random numbers are used twice", "    chance.used[0] += 1\n",
         "    chance.used[0] += min(1, chance.used[0] % 3)\n", REPLAY),
        ("a plan is noted one episode late in a stretch",
         'log.plans[progress["plans"]]["episode"] = progress["played"]',
         'log.plans[progress["plans"]]["episode"] = progress["played"] + 1', REPLAY),
        ("the plan of a stretch is never made anew", "                if counts.totals[IS_REPAIR] == 0:\n",
         "                if False:\n", ONE_LOOP),
        ("what a step loses leaves out the machine's chances", "best.probs[e] * best.move_probs[j] * (",
         "best.probs[e] * (", f"{AT_ONCE}::test_the_mean_pathwise_regret_of_a_fixed_policy_is_exact"),
        ("a plan that is due at once waits for the next episode", 'if due and progress["at_once"] and h + 1 < horizon:',
         "if False:", f"{AT_ONCE}::test_a_plan_is_made_as_soon_as_it_is_due"),
        ("a plan that no episode started with is noted",
         'if progress["is_new"] == 0 or progress["step"] > 0 or too_soon:',
         'if progress["is_new"] == 0 or too_soon:', f"{AT_ONCE}::test_plans_that_episodes_start_with_are_valued"),
        ("random actions of Q-learning are never taken", "next_number(chance) < epsilon", "next_number(chance) < 0.0",
         Q_LEARNING),
        ("an episode goes on when the machine is done", "if z >= size or world.is_done[m]:", "if z >= size:",
         UNTIL_DONE),
        ("an episode begins after the last step of the budget", 'num_steps < progress["budget"] and not due:',
         'num_steps <= progress["budget"] and not due:',
         f"{UNTIL_DONE}::test_an_episode_that_takes_the_last_step_of_the_budget_is_the_last"),
    ],
    "kernels/counts.py": [
        ("a visit is counted one step late", "step_visits[h, o] += 1", "step_visits[h + 1, o] += 1", SHOWN),
        ("an observation met as a successor is not planned for", "        counts.is_met[target] = True\n",
         "        pass\n", UCBVI),
        ("the transitions of a pair are linked in a ring of one",
         '        counts.transitions[before - 1]["next"] = place + 1\n', "        pass\n", UCBVI),
        ("growing episodes make no plan due", "replan in (GROWTH, REPAIR) and episodes_have_grown(totals)",
         "replan == REPAIR and episodes_have_grown(totals)", REPLAY),
        ("rewards of a machine that is learned are not counted", "machine.rewards[label, m] += reward",
         "machine.rewards[label, m] += 0.0", "learners/test_learned_machine.py::test_headroom_plans_by_the_formulas"),
        ("plans are due at even numbers of visits", "return bool(number & (number - 1) == 0)",
         "return bool(number & 1 == 0)", REPLAY),
        ("an epoch ends one visit late", "visits - before >= (before", "visits - before > (before", REPLAY),
        ("the label of an extra row is lost", 'counts.rows[x]["label"], counts.rows[x]["target"] = label, target',
         'counts.rows[x]["label"], counts.rows[x]["target"] = 0, target', f"{MATTERS}[ucbvi-prm-9]"),
    ],
    "tasks/product.py": [
        ("outcomes of the machine are not told apart on the product", "z * size + m_next, probs)",
         "z * size, probs)", SHOWN),
        ("the outcomes of the machine share one place on the product", "machine.index[outcome.target] == m_next)",
         "machine.index[outcome.target] >= 0)", f"{MATTERS}[ucbvi-3]"),
    ],
    "kernels/ties.py": [
        ("the first of equally good actions is always taken",
         "skipped = np.int64(uniform(stream) * equals) if equals > 1 else np.int64(0)", "skipped = np.int64(0)", TIES),
        ("ties are noticed in the first machine states alone", "for k in range(lanes if count > lanes else count):",
         "for k in range(min(count, lanes, 3)):",
         f"{CHOICES}::test_a_best_action_is_taken_and_equals_are_drawn_uniformly"),
    ],
    "kernels/linear.py": [
        ("the minimum with the cap is dropped", "value = np.minimum(value, form.growth * mean + bound)",
         "value = form.growth * mean + bound", UCBVI),
        ("the minimum with the plan before is dropped",
         "value = np.minimum(value, load(zero, old, slot * width + lane))", "value = value + zero", MONOTONE),
        ("the action values of all steps are those of the first", "old, new = form.old[h], form.new[h]",
         "old, new = form.old[0], form.new[0]", UCBVI),
        ("the bonus is that of the first action", "o * by[1] + a * by[2]", "o * by[1]",
         UCBVI),
        ("the square of the mean is not taken off the variance", "np.sqrt(np.maximum(square - mean * mean, zero))",
         "np.sqrt(np.maximum(square, zero))", UCBVI),
        ("the mean reward of a pair is that of the first machine state",
         'share * paid[np.int64(seen["label"]) * width + m]', 'share * paid[np.int64(seen["label"]) * width]',
         f"{MATTERS}[ucbvi-prm-9]"),
        ("a plan hopes for what comes after the end",
         "return select(is_done, zero + task.ends[h], task.discount * value)", "return task.discount * value",
         f"{UNTIL_DONE}::test_nobody_hopes_for_what_comes_after_the_end"),
    ],
    "kernels/euler.py": [
        ("the lower value has no floor", "low = np.maximum(low, mean - (", "low = mean - (", EULER),
        ("the lower value is that of the first action", "lowest[np.int64(actions[place + k]) * LANES + k]", "lowest[k]",
         EULER),
    ],
    "kernels/headroom.py": [
        ("the visits of an observation are those of its last action", "        total += counts.visits[pair]\n",
         "        total = counts.visits[pair]\n", f"{MATTERS_TO_HEADROOM}[practical-3]"),
        ("the spread takes the deviation of few visits as it is", "np.sqrt(visits / (visits - 1.0)) * deviation",
         "deviation", f"{MATTERS_TO_HEADROOM}[practical-3]"),
        ("the spread is that of the first step at all steps",
         "np.maximum(spread.shares[h, 0] * (top - mean), spread.shares[h, 1] * (local - mean))",
         "np.maximum(spread.shares[0, 0] * (top - mean), spread.shares[0, 1] * (local - mean))",
         f"{MATTERS_TO_HEADROOM}[practical-3]"),
        ("what is certain is not preferred", "wanted = select(least > low, zero - np.inf, least)",
         "wanted = zero - np.inf", CHOICES),
        ("a repair keeps the old counts of a pair that has grown", "    copy_pair(counts, planned.edges, pair)\n",
         "    pass\n", REPAIR),
        ("NumPy takes the logarithm, with other code on other processors", "natural_log(visits_of_state / n)",
         "np.log(visits_of_state / n)", FORBIDDEN),
        ("the series of the logarithm ends too soon", "ROOTS, TERMS = 6, 17", "ROOTS, TERMS = 6, 9",
         f"{ARITHMETIC}::test_the_logarithm_of_a_kernel_has_fourteen_digits_and_is_the_same_for_arrays_and_compiled"),
    ],
    "kernels/repair.py": [
        ("a repair forgets what leads to what changed", "place = np.int64(links.link_next[place - 1])", "place = 0",
         REPAIR),
        ("a repair leaves the continuation rows of what changed",
         "            fill_step(known, tables, counts.rows, size, h, place - 1, place)\n", "", REPAIR),
    ],
    "kernels/q_learning.py": [
        ("Q-learning hopes for what comes after the end",
         "if target >= memory.values.shape[0] or memory.is_done[m] > 0.0:", "if target >= memory.values.shape[0]:",
         Q_LEARNING),
        ("CRM forgets the machine's reward", "return float(layers.paid[label * width + m] + memory",
         "return float(memory", Q_LEARNING),
    ],
    "statistics/steps.py": [
        ("a share of the optimum is reached as soon as one plan has it", "after = int(far[-1]) + 1",
         "after = int(far[0]) + 1",
         "statistics/test_steps.py::test_a_share_is_reached_for_good_when_no_later_plan_falls_below_it"),
    ],
    "simulation/run.py": [
        ("the learner draws from the world's stream", "np.random.default_rng(world), np.random.default_rng(learner)",
         "np.random.default_rng(world), np.random.default_rng(world)", SEEDS),
        ("the streams are exchanged", "world, learner = np.random", "learner, world = np.random", REPLAY),
        ("the regret of an episode is counted after it", "np.arange(1, self.num_episodes + 1)",
         "np.arange(self.num_episodes)",
         REGRET),
    ],
    "simulation/task_world.py": [
        ("all starts are equally likely", "task.starts, table.initial, probs, np.cumsum(probs)",
         "task.starts, table.initial, probs, np.arange(1, len(probs) + 1) / len(probs)", f"{LAWS} {REPLAY}"),
    ],
    "tasks/reachability.py": [
        ("what can be reached is known one step late", "        total += len(front)\n        until.append(total)\n",
         "        until.append(total)\n        total += len(front)\n", PLANS),
    ],
    "simulation/box_world.py": [
        ("an end is not told apart from a step", "            z += self.spec.num_observations\n",
         "            z += 0\n",
         f"{BOX}::test_an_ended_episode_is_counted_no_further"),
        ("a black box is played on after it was cut off", "if ended or truncated or m in", "if ended or m in",
         f"{BOX}::test_an_episode_that_is_cut_off_is_played_no_further"),
        ("a replan in a black box is missed", "due |= self._count(", "due = self._count(", BOX_PLANS),
        ("places of transitions of a black box are not told apart by label", "self.places.get((pair, z, number))",
         "self.places.get((pair, z, number), min(self.places.values(), default=None))", BOX_COUNTS),
    ],
    "tasks/machine_table.py": [
        ("the first machine move is always taken in a black box", "moves[bisect_right(sums, ",
         "moves[0 * bisect_right(sums, ", f"{BOX}::test_returns_have_the_mean_of_the_policies_that_were_played"),
    ],
    "simulation/loop.py": [
        ("visits at the last plan are forgotten", "            self.counts.at_plan[:] = self.counts.visits\n", "",
         REPLAY),
        ("the plans so far are lost when the log grows", "np.concatenate((log.plans, _room_for_plans(len(log.plans))))",
         "np.concatenate((_room_for_plans(len(log.plans)), log.plans))",
         f"{SIMULATE}::test_no_plan_is_lost_however_many_there_are"),
        ("a learner's arrays are played without a check", "        return validate_policy(spec, plan.policy).copy()",
         "        return plan.policy.swapaxes(1, 2).copy()", "simulation/test_wrong_plans.py"),
        ("a policy that is given is replaced when a plan is due", "policy, NEVER, 0\n", "policy, 0, 0\n",
         f"{EXPLORING}::test_each_policy_is_played_for_the_episodes_that_it_is_given"),
        ("a plan that a learner made anew counts as a repair", "        if not totals[IS_REPAIR]:  # nor",
         '        if not is_repair(totals, self.replan_code, self.progress["step"]):  # nor', BOX_COUNTS),
    ],
    "policies/policy.py": [
        ("a policy of a black box acts where it was never", "o is None or self.met is None or self.met[o]",
         "o is None or self.met is None or not self.met[o] or self.met[o]", "policies/test_policy.py"),
    ],
    "exploration/dataset.py": [
        ("merged transitions are counted once each", "np.add.at(added, places, counts)", "np.add.at(added, places, 1)",
         MERGING),
        ("the starts of the other part are lost", "merged.first_counts + other.first_counts", "merged.first_counts",
         MERGING),
        ("the start distribution of the data is lost", "return self.first_counts / self.num_episodes",
         "return (self.first_counts > 0) / (self.first_counts > 0).sum()",
         f"{EXPLORING}::test_the_estimate_starts_where_the_episodes_did"),
    ],
    "exploration/explore.py": [
        ("actions are uniform at the first step alone", "weights[:, o] = 1.0 / num_actions",
         "weights[0, o] = 1.0 / num_actions",
         f"{EXPLORING}::test_policies_act_uniformly_at_their_target_and_as_planned_elsewhere"),
        ("the last policy of a search is never played", "append=total)",
         'append=int(world.log.plans[len(policies) - 1]["episode"]))',
         f"{EXPLORING}::test_search_finds_policies_that_reach_their_target"),
    ],
    "exploration/certificate.py": [
        ("distances are bounded one step short", "for _ in range(horizon):", "for _ in range(horizon - 1):", DISTANCE),
    ],
    "exploration/trajectories.py": [
        ("the lower bound of a search ignores probabilities",
         "math.fsum(p * node.bounds[i] for p, node in nodes) for i in range(3)",
         "math.fsum((1.0 if i == 1 else p) * node.bounds[i] for p, node in nodes) for i in range(3)",
         f"{HISTORIES}::test_a_complete_search_is_the_best_of_all_policies"),
        ("the upper bound of a search is that of its choice", "max(value.upper for value in values))",
         "values[node.action].upper)", f"{HISTORIES}::test_a_search_is_within_its_alpha_and_gets_better"),
    ],
    "kernels/certify.py": [
        ("a certificate ignores what other actions may be worth", "                    if pair == chosen:\n",
         "                    if pair != chosen:\n                        lost = 0.0\n                    else:\n",
         "exploration/test_bounds_by_formula.py::test_the_bounds_of_a_machine_follow_their_formulas"),
    ],
    "exploration/confidence.py": [
        ("the radius of a KL ball is a quarter of what it must be", "size, level) / visits, np.inf)",
         "size, level) / (4.0 * visits), np.inf)",
         "exploration/test_certificate_soundness.py::test_the_confidence_set_holds_the_truth"),
    ],
    "tasks/extremes.py": [
        ("the most that can still be paid is not discounted", "spec.discount * best[h + 1]", "best[h + 1]",
         f"{DISCOUNTED_PLANS}::test_a_plan_and_its_certificate_are_those_for_a_machine_that_halts"),
    ],
    "exploration/likely_loss.py": [
        ("losses in draws are not discounted", "spec.exits, spec.discount)", "spec.exits, 1.0)",
         f"{DISCOUNTED_PLANS}::test_values_in_a_posterior_draw_are_those_of_a_machine_that_halts"),
    ],
    "tasks/model.py": [
        ("the step into the unknown pays nothing", "exits[1:, UNKNOWN] = least[:-1]", "exits[1:, UNKNOWN] = least[1:]",
         ESTIMATE),
        ("pairs never visited stay where they are", "places, size + UNKNOWN)",
         "places, np.flatnonzero(never) // (len(visits) // size))", ESTIMATE),
    ],
    "envs/grid_map.py": [
        ("the sides of a slip are swapped", "_TURNS = (0, 1, -1)", "_TURNS = (0, -1, 1)", "envs/test_grids.py"),
        ("a one-way cell forbids its own direction", "(name != ARROWS[arrow])", "(name == ARROWS[arrow])",
         "envs/test_grids.py"),
        ("a thin wall is shut from one side only", "level[1:], upright[:, :-1]))", "level[1:], upright[:, 1:]))",
         "envs/test_grids.py"),
        ("a task is saved as the map that draws it, whatever its labels are", "rules[0] == rules[1]",
         "rules[0] == rules[0]", "envs/test_grids.py"),
        ("a door is part of a room", "[WALL, *self._as_usual(DOOR, *THIN)]", "[WALL, *self._as_usual(*THIN)]",
         "envs/test_grids.py"),
    ],
    "envs/indexing.py": [
        ("parts of an observation are added up instead of numbered", "number = number * size + digit",
         "number = number + digit", "envs/test_indexing.py::test_elements_are_numbered_in_order"),
    ],
    "envs/machine_wrapper.py": [
        ("a wrapped machine plays on after the end", "        if self._is_over:\n            label",
         "        if False:\n            label",
         f"{WRAPPER}::test_the_machine_halts_when_the_episode_has_ended"),
        ("shaping keeps the potential of where an episode terminates", "0.0 if terminated else self.shaping",
         "self.shaping",
         f"{WRAPPER}::test_shaped_returns_differ_by_the_potential_of_the_start_alone"),
        ("the reward of a stage comes before that of an edge",
         "stage_rewards.get((here, there), stage_rewards.get(here, 0.0))",
         "stage_rewards.get(here, stage_rewards.get((here, there), 0.0))",
         f"{WRAPPER}::test_stage_rewards_are_added_in_their_state_or_on_their_edge_which_comes_first"),
        ("an episode ends in all machine states where it ends in one", "or after in self.done_states",
         "or state in self.done_states",
         f"{COUNTERFACTUALS}::test_an_episode_ends_in_the_machine_state_that_can_earn_no_more"),
        ("the environment's reward is always added", 'env_step["reward"] if self.add_reward else 0.0',
         'env_step["reward"]', f"{COUNTERFACTUALS}::test_the_environments_reward_is_added_if_the_wrapper_adds_it"),
    ],
    "envs/machine_vector_wrapper.py": [
        ("a step that ends and resets at once has the label of the reset", 'parts[i] = info["final_obs"][i]', "pass",
         "envs/test_machine_vector_wrapper.py"),
        ("a step that only resets moves the machine", 'done if self._mode == "NEXT_STEP" else np.zeros_like(done)',
         "np.zeros_like(done)", "envs/test_machine_vector_wrapper.py"),
    ],
    "machines/rules.py": [
        ("a state is settled if it pays nothing itself", "    return closure(paying, sources)", "    return paying",
         f"{WRAPPER}::test_terminal_states_are_those_that_cannot_lead_to_a_reward"),
        ("the last rule that holds is taken, not the first", "for rule in reversed(guarded):", "for rule in guarded:",
         f"{RULES}::test_the_first_rule_that_holds_is_taken_and_else_last_wherever_it_stands"),
        ("two rules that hold on one label pass", "        if not first_match:\n", "        if False:\n",
         "machines/test_what_is_refused.py::test_what_is_wrong_is_refused"),
        ("outcomes are put in another order than they were written in", "in by_target.items()",
         "in sorted(by_target.items())",
         f"machines/test_machine.py::test_outcomes_with_one_target_are_mixed_and_keep_the_law {EQUAL}"),
    ],
    "policies/agents.py": [
        ("an agent is asked about the wrong machine state", "beside(np.int64(o), np.int64(m))",
         "beside(np.int64(o), np.int64(0))",
         "policies/test_agents.py::test_the_value_of_an_agent_is_that_of_its_policy"),
    ],
    "statistics/measures.py": [
        ("an interval around 1 that could be level is called lower",
         "if interval.low > self.null:\n            return above",
         "if interval.low > self.lower:\n            return above",
         "statistics/test_claims.py::test_readings_tell_level_from_not_clear"),
    ],
    "experiments/frames.py": [
        ("a curve begins with its first plan's loss", "np.concatenate(([0.0], run.regret))[at]", "run.regret[at - 1]",
         "experiments/test_frames.py::test_curves_at_chosen_episodes_are_the_exact_regret_there"),
    ],
    "deep/counterfactuals.py": [
        ("all machine states make of a step what its own did", "self.view.step(m, label,", "self.view.step(own, label,",
         f"{COUNTERFACTUALS}::test_next_states_and_rewards_have_the_machines_distribution"),
    ],
    "inference/evidence.py": [
        ("the test of a merge looks at one tail and counts it once", "2.0 * tails.min() * number",
         "tails.min() * number", f"{INFER}::test_the_p_value_of_one_cell_is_fishers"),
        ("a label is left out though nothing could show that it matters", "steps.num_repetitions < ENOUGH",
         "steps.num_repetitions < 0", "inference/test_idle_labels.py::test_one_long_episode_leaves_nothing_out"),
    ],
    "inference/traces.py": [
        ("episodes are dealt out in turn, so that the second half repeats the noise of the first",
         "rng.binomial(self.weights, share)", "np.round(self.weights * share).astype(np.int64)",
         "inference/test_traces.py::test_a_split_loses_no_episode_and_repeated_ones_fall_to_the_parts_by_chance"),
        ("the noise of arithmetic makes two rewards of one", "{reward:.12g}", "{reward:.17g}",
         f"{INFER}::test_a_contradiction_shows_enough_digits_and_the_noise_of_arithmetic_is_none"),
    ],
    "inference/merging.py": [
        ("a state that predicts worse is taken for the target of an edge", "            best = max(",
         "            best = min(", f"{INFER}::test_among_states_that_are_not_rejected_an_edge_leads_to_the_likeliest"),
        ("a fold that fails leaves its edges in the tree", "self._remove(added)", "pass",
         "inference/test_folding.py::test_a_fold_that_fails_takes_back_the_edges_it_added"),
    ],
    "inference/state_table.py": [
        ("equal episodes count once", "np.bincount(place, traces.weights[row], delta.size)",
         "np.bincount(place, None, delta.size)",
         "inference/test_infer_command.py::test_infer_writes_a_machine_that_is_right"),
    ],
    "inference/answer.py": [
        ("each interval holds by itself only", "INTERVAL_LEVEL) / len(counts)", "INTERVAL_LEVEL)",
         f"{INFER}::test_intervals_are_those_of_each_label_even_if_labels_share_a_rule"),
        ("an interval has the whole error at either end", "0.5 * (1.0 - INTERVAL_LEVEL)", "(1.0 - INTERVAL_LEVEL)",
         f"{INFER}::test_intervals_are_those_of_each_label_even_if_labels_share_a_rule"),
    ],
    "inference/doubts.py": [
        ("a state that looks like a mixture of others counts though it looks like one of them",
         "min(MIXED, alone.min() / ALONE)", "np.inf",
         "inference/test_hidden_moves.py::test_machines_whose_rewards_show_their_moves_are_not_said_to_hide_them"),
        ("a mixture is not fitted", "mixture *= predicted @ (times / (mixture @ predicted))", "mixture *= 1.0",
         "inference/test_hidden_moves.py::test_hidden_moves_are_said_and_the_merged_machine_is_returned"),
    ],
    "inference/comparing.py": [
        ("a true chance above its interval passes", "<= high + TOLERANCE", "<= 1.0 + TOLERANCE",
         f"{INFER}::test_comparing_finds_chances_outside_their_intervals"),
    ],
    "planning/backward.py": [
        ("BLAS adds up the start",
         "ordered_sum(model.start_probs[model.starts] * first[model.starts, model.table.initial])",
         "np.dot(model.start_probs[model.starts], first[model.starts, model.table.initial])", PROCESSORS),
    ],
    "_support/arithmetic.py": [
        ("sums are pairwise", "0.0 + np.add.accumulate(array, axis=axis).take(-1, axis=axis)", "array.sum(axis=axis)",
         f"{ARITHMETIC}::test_an_ordered_sum_goes_along_any_axis_of_any_layout"),
    ],
    "machines/machine.py": [
        ("machines with the same outcomes on other labels are equal", " and self.diagrams.is_same_as(other.diagrams)",
         "", f"{EQUAL}::test_machines_are_equal_exactly_if_they_do_the_same_on_every_label "
         f"{EQUAL}::test_whatever_a_machine_does_otherwise_makes_it_another"),
        ("a formula is written for a machine that was changed", "source=None, meanings",
         'source={"ltlf": "F a"}, meanings',
         f"{EQUAL}::test_a_changed_copy_is_not_written_as_the_formula_it_was_made_from"),
    ],
    "machines/algebra.py": [
        ("an event that is missed is seen", "((chance, seen), (1.0 - chance, missed))",
         "((chance, seen), (1.0 - chance, seen))",
         f"{FROM_FORMULAS}::test_a_missed_event_is_taken_out_of_the_label_for_the_whole_machine"),
    ],
    "machines/state_diagrams.py": [
        ("propositions that are not in the right order are taken for one another",
         "target.choose(new[variable], low, high)", "target.choose(variable, low, high)",
         f"{EQUAL}::test_a_machine_equals_its_rules_for_single_labels_in_any_order"),
    ],
    "machines/arrays.py": [
        ("a bit of a label is read the wrong way round", "high[at], low[at]", "low[at], high[at]",
         "machines/test_arrays.py::test_arrays_hold_the_outcomes_of_every_state_and_label"),
        ("one random number serves a whole batch", "rng.random(m.shape)", "rng.random()",
         "machines/test_arrays.py::test_outcomes_are_sampled_with_their_probabilities"),
    ],
    "machines/potential.py": [
        ("the potential is that of the worst labels", "np.maximum.reduceat", "np.minimum.reduceat",
         f"{TAKEN}::test_potentials_in_closed_form"),
        ("without a discount the first policy may leave for a loss",
         "if discount < 1.0 else _staying(machine, choices)",
         "if discount < 1.0 or _staying(machine, choices) is None else choices.first.copy()",
         f"{TAKEN}::test_without_a_discount_it_is_best_to_stay_where_every_way_out_has_a_loss"),
    ],
    "machines/difference.py": [
        ("words are searched depth first", "waiting.popleft()", "waiting.pop()",
         f"{TAKEN}::test_differences_of_known_length"),
    ],
}
# fmt: on
FAULTS = [Fault(file, *row) for file, rows in TABLE.items() for row in rows]
