// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Who runs a side of a QP: one at a time, and no kick goes unheard, whoever
 * kicks and whatever stops it (rxe_side.h).
 *
 * Context: process; the last case has kthreads that kick at the same time.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/sched/task.h>

#include "../rxe_side.h"

static void first_kick_has_to_see_to_a_run(struct kunit *test)
{
	atomic_t state = ATOMIC_INIT(0);

	KUNIT_EXPECT_TRUE(test, rxe_side_kick(&state, RXE_KICK_POST));
	KUNIT_EXPECT_FALSE(test, rxe_side_kick(&state, RXE_KICK_RX));
	KUNIT_EXPECT_TRUE(test, rxe_side_busy(&state));
	KUNIT_EXPECT_EQ(test, rxe_side_take(&state),
			RXE_KICK_POST | RXE_KICK_RX);
	KUNIT_EXPECT_EQ(test, rxe_side_take(&state), 0);
}

static void kick_during_a_run_makes_it_go_on(struct kunit *test)
{
	atomic_t state = ATOMIC_INIT(0);

	rxe_side_kick(&state, RXE_KICK_POST);
	rxe_side_take(&state);
	KUNIT_EXPECT_FALSE(test, rxe_side_kick(&state, RXE_KICK_RX));
	KUNIT_EXPECT_FALSE(test, rxe_side_idle(&state));
	KUNIT_EXPECT_TRUE(test, rxe_side_busy(&state));
	KUNIT_EXPECT_EQ(test, rxe_side_take(&state), RXE_KICK_RX);
	KUNIT_EXPECT_TRUE(test, rxe_side_idle(&state));
	KUNIT_EXPECT_FALSE(test, rxe_side_busy(&state));
	KUNIT_EXPECT_TRUE(test, rxe_side_kick(&state, RXE_KICK_RX));
}

static void used_up_budget_asks_for_another_run(struct kunit *test)
{
	atomic_t state = ATOMIC_INIT(0);

	rxe_side_kick(&state, RXE_KICK_POST);
	rxe_side_take(&state);
	KUNIT_EXPECT_TRUE(test, rxe_side_yield(&state));
	KUNIT_EXPECT_FALSE(test, rxe_side_kick(&state, RXE_KICK_RX));
	KUNIT_EXPECT_EQ(test, rxe_side_take(&state),
			RXE_KICK_MORE | RXE_KICK_RX);
}

static void nothing_starts_a_stopped_side(struct kunit *test)
{
	atomic_t state = ATOMIC_INIT(0);

	rxe_side_stop(&state);
	KUNIT_EXPECT_FALSE(test, rxe_side_kick(&state, RXE_KICK_RX));
	KUNIT_EXPECT_FALSE(test, rxe_side_busy(&state));
}

static void kick_while_stopped_is_heard_at_the_start(struct kunit *test)
{
	atomic_t state = ATOMIC_INIT(0);

	rxe_side_stop(&state);
	rxe_side_kick(&state, RXE_KICK_RX);
	KUNIT_EXPECT_TRUE(test, rxe_side_start(&state));
	KUNIT_EXPECT_TRUE(test, rxe_side_busy(&state));
	KUNIT_EXPECT_EQ(test, rxe_side_take(&state), RXE_KICK_RX);
}

static void start_without_a_kick_runs_nothing(struct kunit *test)
{
	atomic_t state = ATOMIC_INIT(0);

	rxe_side_stop(&state);
	KUNIT_EXPECT_FALSE(test, rxe_side_start(&state));
	KUNIT_EXPECT_FALSE(test, rxe_side_busy(&state));
	KUNIT_EXPECT_TRUE(test, rxe_side_kick(&state, RXE_KICK_POST));
}

/* What comes meanwhile has to wait for the start, not for the end of the run */
static void stop_ends_a_run_in_spite_of_kicks(struct kunit *test)
{
	atomic_t state = ATOMIC_INIT(0);

	rxe_side_kick(&state, RXE_KICK_POST);
	rxe_side_take(&state);
	rxe_side_stop(&state);
	KUNIT_EXPECT_TRUE(test, rxe_side_busy(&state));
	rxe_side_kick(&state, RXE_KICK_RX);
	KUNIT_EXPECT_TRUE(test, rxe_side_idle(&state));
	KUNIT_EXPECT_FALSE(test, rxe_side_busy(&state));
	KUNIT_EXPECT_TRUE(test, rxe_side_start(&state));
	KUNIT_EXPECT_EQ(test, rxe_side_take(&state), RXE_KICK_RX);
}

static void stop_ends_a_run_whose_budget_is_used_up(struct kunit *test)
{
	atomic_t state = ATOMIC_INIT(0);

	rxe_side_kick(&state, RXE_KICK_POST);
	rxe_side_take(&state);
	rxe_side_stop(&state);
	KUNIT_EXPECT_FALSE(test, rxe_side_yield(&state));
	KUNIT_EXPECT_FALSE(test, rxe_side_busy(&state));
	KUNIT_EXPECT_TRUE(test, rxe_side_start(&state));
	KUNIT_EXPECT_EQ(test, rxe_side_take(&state), RXE_KICK_MORE);
}

static void lent_side_is_claimed_once(struct kunit *test)
{
	atomic_t state = ATOMIC_INIT(0);

	KUNIT_EXPECT_FALSE(test, rxe_side_claim(&state));
	KUNIT_ASSERT_TRUE(test, rxe_side_kick(&state, RXE_KICK_POST));
	KUNIT_EXPECT_FALSE(test, rxe_side_claim(&state));
	rxe_side_lend(&state);
	KUNIT_EXPECT_TRUE(test, rxe_side_claim(&state));
	KUNIT_EXPECT_FALSE(test, rxe_side_claim(&state));
}

static void kick_of_a_lent_side_is_heard_by_who_claims_it(struct kunit *test)
{
	atomic_t state = ATOMIC_INIT(0);

	rxe_side_kick(&state, RXE_KICK_POST);
	rxe_side_lend(&state);
	KUNIT_EXPECT_FALSE(test, rxe_side_kick(&state, RXE_KICK_RX));
	KUNIT_ASSERT_TRUE(test, rxe_side_claim(&state));
	KUNIT_EXPECT_EQ(test, rxe_side_take(&state),
			RXE_KICK_POST | RXE_KICK_RX);
	KUNIT_EXPECT_TRUE(test, rxe_side_idle(&state));
}

/* Its run has been promised; whoever stops it waits for that */
static void lent_side_that_is_stopped_runs_once_more(struct kunit *test)
{
	atomic_t state = ATOMIC_INIT(0);

	rxe_side_kick(&state, RXE_KICK_POST);
	rxe_side_lend(&state);
	rxe_side_stop(&state);
	KUNIT_EXPECT_TRUE(test, rxe_side_busy(&state));
	KUNIT_EXPECT_TRUE(test, rxe_side_claim(&state));
	KUNIT_EXPECT_TRUE(test, rxe_side_idle(&state));
	KUNIT_EXPECT_FALSE(test, rxe_side_busy(&state));
}

#define KICKERS		4
#define KICKS_EACH	20000

/* The work is a number; a run takes all there is. Every other run is lent */
struct crowd {
	bool lends;
	atomic_t state;
	atomic_t work;
	atomic_t running;
	atomic_t done;
	atomic_t overlaps;
	atomic_t kickers;
	struct completion end;
};

static void run(struct crowd *crowd)
{
	do {
		rxe_side_take(&crowd->state);
		if (atomic_inc_return(&crowd->running) > 1)
			atomic_inc(&crowd->overlaps);
		atomic_add(atomic_xchg(&crowd->work, 0), &crowd->done);
		atomic_dec(&crowd->running);
	} while (!rxe_side_idle(&crowd->state));
}

static void run_or_lend(struct crowd *crowd, int i)
{
	bool mine = rxe_side_kick(&crowd->state, RXE_KICK_POST);

	if (mine && crowd->lends && i % 2) {
		rxe_side_lend(&crowd->state);
		return;
	}
	if (mine || rxe_side_claim(&crowd->state))
		run(crowd);
}

static int kicker(void *arg)
{
	struct crowd *crowd = arg;

	for (int i = 0; i < KICKS_EACH; i++) {
		atomic_inc(&crowd->work);
		run_or_lend(crowd, i);
		if (i % 64 == 0)
			cond_resched();
	}
	if (atomic_dec_and_test(&crowd->kickers))
		complete(&crowd->end);
	return 0;
}

static struct task_struct *start_kicker(struct crowd *crowd, int i)
{
	struct task_struct *thread;

	thread = kthread_create(kicker, crowd, "rxe_kicker/%d", i);
	if (IS_ERR(thread))
		return NULL;

	atomic_inc(&crowd->kickers);
	get_task_struct(thread);
	wake_up_process(thread);
	return thread;
}

static void expect_one_runner(struct kunit *test, bool lends)
{
	struct crowd *crowd = kunit_kzalloc(test, sizeof(*crowd), GFP_KERNEL);
	struct task_struct *threads[KICKERS];
	int n = 0;

	KUNIT_ASSERT_NOT_NULL(test, crowd);
	crowd->lends = lends;
	init_completion(&crowd->end);
	atomic_set(&crowd->kickers, 1);

	while (n < KICKERS && (threads[n] = start_kicker(crowd, n)))
		n++;
	if (!atomic_dec_and_test(&crowd->kickers))
		wait_for_completion(&crowd->end);
	for (int i = 0; i < n; i++)
		kthread_stop_put(threads[i]);
	if (rxe_side_claim(&crowd->state))
		run(crowd);

	KUNIT_EXPECT_EQ(test, n, KICKERS);
	KUNIT_EXPECT_EQ(test, atomic_read(&crowd->overlaps), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&crowd->work), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&crowd->done), KICKERS * KICKS_EACH);
	KUNIT_EXPECT_FALSE(test, rxe_side_busy(&crowd->state));
}

static void crowd_of_kickers_has_one_runner(struct kunit *test)
{
	expect_one_runner(test, false);
}

static void crowd_that_lends_has_one_runner(struct kunit *test)
{
	expect_one_runner(test, true);
}

static struct kunit_case rxe_side_cases[] = {
	KUNIT_CASE(first_kick_has_to_see_to_a_run),
	KUNIT_CASE(kick_during_a_run_makes_it_go_on),
	KUNIT_CASE(used_up_budget_asks_for_another_run),
	KUNIT_CASE(nothing_starts_a_stopped_side),
	KUNIT_CASE(kick_while_stopped_is_heard_at_the_start),
	KUNIT_CASE(start_without_a_kick_runs_nothing),
	KUNIT_CASE(stop_ends_a_run_in_spite_of_kicks),
	KUNIT_CASE(stop_ends_a_run_whose_budget_is_used_up),
	KUNIT_CASE(lent_side_is_claimed_once),
	KUNIT_CASE(kick_of_a_lent_side_is_heard_by_who_claims_it),
	KUNIT_CASE(lent_side_that_is_stopped_runs_once_more),
	KUNIT_CASE(crowd_of_kickers_has_one_runner),
	KUNIT_CASE(crowd_that_lends_has_one_runner),
	{}
};

static struct kunit_suite rxe_side_suite = {
	.name = "rxe_side",
	.test_cases = rxe_side_cases,
};

kunit_test_suite(rxe_side_suite);
