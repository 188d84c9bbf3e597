// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completions reach a CQ in order and in its consumer's layout, and the
 * consumer is called when it asked to be and not otherwise (rxe_cq_batch.c,
 * rxe_notify.c).
 *
 * Context: process; a device and a CQ are made in memory, the handlers are
 * called by the softirq.
 */
#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/vmalloc.h>

#include "../rxe.h"
#include "../rxe_cq_batch.h"
#include "../rxe_loc.h"
#include "../rxe_notify.h"
#include "../rxe_queue.h"

#define QPN		77
#define SLOTS		32
#define HANDLER_MS	1000

struct bench {
	struct rxe_dev rxe;
	struct rxe_cq cq;
	struct rxe_qp qp;
	struct rxe_cq_batch batch;
	atomic_t comps;
	atomic_t events;
	atomic_t inside;
	atomic_t overlaps;
	int cpu;		/* of the last call */
};

static void on_comp(struct ib_cq *ibcq, void *context)
{
	struct bench *bench = context;

	if (atomic_inc_return(&bench->inside) > 1)
		atomic_inc(&bench->overlaps);
	WRITE_ONCE(bench->cpu, smp_processor_id());
	atomic_inc(&bench->comps);
	atomic_dec(&bench->inside);
}

static void on_event(struct ib_event *event, void *context)
{
	struct bench *bench = context;

	if (event->event == IB_EVENT_CQ_ERR &&
	    event->element.cq == &bench->cq.ibcq)
		atomic_inc(&bench->events);
}

static void stop_and_free(void *context)
{
	struct bench *bench = context;

	rxe_notify_stop(&bench->cq.calls);
	vfree(bench->cq.queue->buf);
	kfree(bench->cq.queue);
}

static struct bench *new_bench(struct kunit *test, bool is_user)
{
	struct bench *bench = kunit_kzalloc(test, sizeof(*bench), GFP_KERNEL);
	int slots = SLOTS - 1;

	KUNIT_ASSERT_NOT_NULL(test, bench);
	dev_set_name(&bench->rxe.ib_dev.dev, "kunit");
	bench->qp.ibqp.qp_num = QPN;
	bench->cq.is_user = is_user;
	bench->cq.ibcq.device = &bench->rxe.ib_dev;
	bench->cq.ibcq.comp_handler = on_comp;
	bench->cq.ibcq.event_handler = on_event;
	bench->cq.ibcq.cq_context = bench;
	spin_lock_init(&bench->cq.cq_lock);
	rxe_cq_setup_calls(&bench->cq, 0);
	bench->cq.queue = rxe_queue_init(&bench->rxe, &slots,
					 sizeof(struct rxe_cqe),
					 QUEUE_TYPE_TO_CLIENT);
	KUNIT_ASSERT_NOT_NULL(test, bench->cq.queue);
	KUNIT_ASSERT_EQ(test, bench->cq.queue->index_mask, SLOTS - 1);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, stop_and_free,
							   bench));
	return bench;
}

static int add(struct bench *bench, u64 wr_id, enum ib_wc_status status,
	       bool solicited)
{
	struct ib_wc wc = {
		.wr_id		= wr_id,
		.status		= status,
		.qp		= &bench->qp.ibqp,
	};

	return rxe_cq_batch_add(&bench->batch, &bench->cq, &wc, solicited);
}

static int flush(struct bench *bench)
{
	int err = rxe_cq_batch_flush(&bench->batch, &bench->cq);

	rxe_cq_batch_tell(&bench->batch, &bench->cq);
	return err;
}

static struct rxe_cqe *take_cqe(struct bench *bench)
{
	struct rxe_queue *q = bench->cq.queue;
	u32 cons = q->buf->consumer_index;

	/* pairs with the release in queue_advance_producer() */
	if (cons == smp_load_acquire(&q->buf->producer_index))
		return NULL;
	/* pairs with the acquire in queue_full() */
	smp_store_release(&q->buf->consumer_index,
			  (cons + 1) & q->index_mask);
	return queue_addr_from_index(q, cons);
}

/* Handlers are called by a softirq, possibly another CPU's */
static void expect_calls(struct kunit *test, atomic_t *calls, int want)
{
	for (int ms = 0; ms < HANDLER_MS && atomic_read(calls) < want; ms++)
		usleep_range(1000, 1200);
	if (!want)
		msleep(20);
	KUNIT_EXPECT_EQ(test, atomic_read(calls), want);
}

static void batch_is_written_when_flushed(struct kunit *test)
{
	struct bench *bench = new_bench(test, false);

	KUNIT_EXPECT_EQ(test, add(bench, 1, IB_WC_SUCCESS, false), 0);
	KUNIT_EXPECT_EQ(test, add(bench, 2, IB_WC_SUCCESS, false), 0);
	KUNIT_EXPECT_NULL(test, take_cqe(bench));
	KUNIT_EXPECT_EQ(test, flush(bench), 0);
	KUNIT_EXPECT_EQ(test, take_cqe(bench)->ibwc.wr_id, 1);
	KUNIT_EXPECT_EQ(test, take_cqe(bench)->ibwc.wr_id, 2);
	KUNIT_EXPECT_NULL(test, take_cqe(bench));
}

static void full_batch_is_written_at_once(struct kunit *test)
{
	struct bench *bench = new_bench(test, false);
	int i;

	for (i = 0; i < RXE_CQ_BATCH; i++)
		KUNIT_EXPECT_EQ(test, add(bench, i, IB_WC_SUCCESS, false), 0);
	for (i = 0; i < RXE_CQ_BATCH; i++) {
		struct rxe_cqe *cqe = take_cqe(bench);

		KUNIT_ASSERT_NOT_NULL(test, cqe);
		KUNIT_EXPECT_EQ(test, cqe->ibwc.wr_id, i);
	}
	KUNIT_EXPECT_EQ(test, bench->batch.n, 0);
}

/* The numbers are those of enum ibv_wc_flags in libibverbs' verbs.h */
static void user_cqe_has_the_layout_of_libibverbs(struct kunit *test)
{
	struct bench *bench = new_bench(test, true);
	struct ib_wc wc = {
		.wr_id		= 0x1122334455667788,
		.status		= IB_WC_SUCCESS,
		.opcode		= IB_WC_RECV,
		.byte_len	= 64,
		.qp		= &bench->qp.ibqp,
		.src_qp		= 5,
		.port_num	= 1,
		.ex.invalidate_rkey = 0xabcdef01,
		.vlan_id	= 3,
		.wc_flags	= IB_WC_GRH | IB_WC_WITH_INVALIDATE |
				  IB_WC_WITH_VLAN | IB_WC_WITH_NETWORK_HDR_TYPE,
	};
	struct ib_uverbs_wc *cqe;

	rxe_cq_batch_add(&bench->batch, &bench->cq, &wc, false);
	KUNIT_ASSERT_EQ(test, flush(bench), 0);
	cqe = &take_cqe(bench)->uibwc;
	KUNIT_EXPECT_EQ(test, cqe->wr_id, wc.wr_id);
	KUNIT_EXPECT_EQ(test, cqe->status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, cqe->opcode, IB_WC_RECV);
	KUNIT_EXPECT_EQ(test, cqe->byte_len, 64);
	KUNIT_EXPECT_EQ(test, cqe->qp_num, QPN);
	KUNIT_EXPECT_EQ(test, cqe->src_qp, 5);
	KUNIT_EXPECT_EQ(test, cqe->port_num, 1);
	KUNIT_EXPECT_EQ(test, cqe->ex.invalidate_rkey, 0xabcdef01);
	KUNIT_EXPECT_EQ(test, cqe->wc_flags, 1 | 8);
}

static void nobody_is_called_unasked(struct kunit *test)
{
	struct bench *bench = new_bench(test, false);

	add(bench, 1, IB_WC_SUCCESS, true);
	KUNIT_EXPECT_EQ(test, flush(bench), 0);
	expect_calls(test, &bench->comps, 0);
}

static void nobody_is_called_before_the_batch_tells(struct kunit *test)
{
	struct bench *bench = new_bench(test, false);

	bench->cq.notify = IB_CQ_NEXT_COMP;
	for (int i = 0; i < RXE_CQ_BATCH; i++)
		add(bench, i, IB_WC_SUCCESS, false);
	KUNIT_EXPECT_NOT_NULL(test, take_cqe(bench));
	expect_calls(test, &bench->comps, 0);
	rxe_cq_batch_tell(&bench->batch, &bench->cq);
	rxe_cq_batch_tell(&bench->batch, &bench->cq);
	expect_calls(test, &bench->comps, 1);
}

static void one_arm_is_one_call(struct kunit *test)
{
	struct bench *bench = new_bench(test, false);

	bench->cq.notify = IB_CQ_NEXT_COMP;
	add(bench, 1, IB_WC_SUCCESS, false);
	add(bench, 2, IB_WC_SUCCESS, false);
	KUNIT_EXPECT_EQ(test, flush(bench), 0);
	expect_calls(test, &bench->comps, 1);

	add(bench, 3, IB_WC_SUCCESS, false);
	KUNIT_EXPECT_EQ(test, flush(bench), 0);
	msleep(20);
	expect_calls(test, &bench->comps, 1);
}

static void solicited_arm_waits_for_a_solicited_one(struct kunit *test)
{
	struct bench *bench = new_bench(test, false);

	bench->cq.notify = IB_CQ_SOLICITED;
	add(bench, 1, IB_WC_SUCCESS, false);
	KUNIT_EXPECT_EQ(test, flush(bench), 0);
	expect_calls(test, &bench->comps, 0);

	add(bench, 2, IB_WC_SUCCESS, true);
	add(bench, 3, IB_WC_SUCCESS, false);
	KUNIT_EXPECT_EQ(test, flush(bench), 0);
	expect_calls(test, &bench->comps, 1);
}

static void solicited_arm_fires_on_an_error(struct kunit *test)
{
	struct bench *bench = new_bench(test, false);

	bench->cq.notify = IB_CQ_SOLICITED;
	add(bench, 1, IB_WC_WR_FLUSH_ERR, false);
	KUNIT_EXPECT_EQ(test, flush(bench), 0);
	expect_calls(test, &bench->comps, 1);
}

static void overflow_loses_the_rest_and_is_an_event(struct kunit *test)
{
	struct bench *bench = new_bench(test, false);
	int failed = 0;
	int i;

	for (i = 0; i < 2 * RXE_CQ_BATCH; i++)
		failed += add(bench, i, IB_WC_SUCCESS, false) != 0;
	KUNIT_EXPECT_EQ(test, failed, 1);
	for (i = 0; i < SLOTS - 1; i++)
		KUNIT_EXPECT_EQ(test, take_cqe(bench)->ibwc.wr_id, i);
	KUNIT_EXPECT_NULL(test, take_cqe(bench));
	expect_calls(test, &bench->events, 1);

	/* there is room again */
	add(bench, 100, IB_WC_SUCCESS, false);
	KUNIT_EXPECT_EQ(test, flush(bench), 0);
	KUNIT_EXPECT_EQ(test, take_cqe(bench)->ibwc.wr_id, 100);
}

static void calls_do_not_overlap_or_get_lost(struct kunit *test)
{
	struct bench *bench = new_bench(test, false);

	for (int i = 0; i < 1000; i++) {
		int calls = atomic_read(&bench->comps);

		bench->cq.notify = IB_CQ_NEXT_COMP;
		add(bench, i, IB_WC_SUCCESS, false);
		KUNIT_ASSERT_EQ(test, flush(bench), 0);
		KUNIT_ASSERT_NOT_NULL(test, take_cqe(bench));
		for (int us = 0; us < 100000 &&
		     atomic_read(&bench->comps) == calls; us += 10)
			usleep_range(10, 20);
		KUNIT_ASSERT_EQ(test, atomic_read(&bench->comps), calls + 1);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&bench->overlaps), 0);
}

static void nobody_is_called_after_the_stop(struct kunit *test)
{
	struct bench *bench = new_bench(test, false);

	rxe_notify_stop(&bench->cq.calls);
	bench->cq.notify = IB_CQ_NEXT_COMP;
	add(bench, 1, IB_WC_SUCCESS, false);
	flush(bench);
	expect_calls(test, &bench->comps, 0);
}

static void consumer_is_called_on_the_cpu_of_its_vector(struct kunit *test)
{
	int cpu;

	for_each_online_cpu(cpu) {
		struct bench *bench = new_bench(test, false);

		rxe_cq_setup_calls(&bench->cq, cpu);
		bench->cpu = -1;
		rxe_cq_arm(&bench->cq, IB_CQ_NEXT_COMP);
		add(bench, 1, IB_WC_SUCCESS, false);
		KUNIT_EXPECT_EQ(test, flush(bench), 0);
		expect_calls(test, &bench->comps, 1);
		KUNIT_EXPECT_EQ(test, READ_ONCE(bench->cpu), cpu);
	}
}

static void arm_reports_what_is_there_if_asked(struct kunit *test)
{
	struct bench *bench = new_bench(test, false);
	struct rxe_cq *cq = &bench->cq;

	KUNIT_EXPECT_EQ(test, 0, rxe_cq_arm(cq, IB_CQ_NEXT_COMP |
					    IB_CQ_REPORT_MISSED_EVENTS));
	add(bench, 1, IB_WC_SUCCESS, false);
	KUNIT_EXPECT_EQ(test, flush(bench), 0);
	expect_calls(test, &bench->comps, 1);

	KUNIT_EXPECT_EQ(test, 0, rxe_cq_arm(cq, IB_CQ_NEXT_COMP));
	KUNIT_EXPECT_GT(test, rxe_cq_arm(cq, IB_CQ_SOLICITED |
					 IB_CQ_REPORT_MISSED_EVENTS), 0);
	/* it is told of the next one only */
	expect_calls(test, &bench->comps, 1);

	KUNIT_EXPECT_NOT_NULL(test, take_cqe(bench));
	KUNIT_EXPECT_EQ(test, 0, rxe_cq_arm(cq, IB_CQ_SOLICITED |
					    IB_CQ_REPORT_MISSED_EVENTS));
}

#define RACES	5000

/* One completion at a time, when there is room for it */
static int complete_many(void *context)
{
	struct bench *bench = context;
	struct rxe_cq *cq = &bench->cq;

	for (int i = 0; i < RACES && !kthread_should_stop();) {
		if (queue_full(cq->queue, QUEUE_TYPE_TO_CLIENT)) {
			usleep_range(10, 20);
			continue;
		}
		add(bench, i++, IB_WC_SUCCESS, false);
		flush(bench);
		if (i % 3 == 0)
			cond_resched();
	}
	while (!kthread_should_stop())
		usleep_range(1000, 1200);
	return 0;
}

/* As a consumer that sleeps has to: poll, arm, poll again if there was more */
static void no_completion_slips_in_before_the_arm(struct kunit *test)
{
	struct bench *bench = new_bench(test, false);
	struct task_struct *task;
	int seen = 0;

	task = kthread_run(complete_many, bench, "rxe_kunit_complete");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	while (seen < RACES) {
		int calls = atomic_read(&bench->comps);
		int ms = 0;

		while (take_cqe(bench))
			seen++;
		if (seen == RACES ||
		    rxe_cq_arm(&bench->cq, IB_CQ_NEXT_COMP |
					   IB_CQ_REPORT_MISSED_EVENTS) > 0)
			continue;
		while (atomic_read(&bench->comps) == calls &&
		       ms++ < HANDLER_MS)
			usleep_range(1000, 1200);
		KUNIT_EXPECT_LE_MSG(test, ms, HANDLER_MS,
				    "not told of number %d", seen);
		if (ms > HANDLER_MS)
			break;
	}
	kthread_stop(task);
	KUNIT_EXPECT_EQ(test, seen, RACES);
	KUNIT_EXPECT_EQ(test, atomic_read(&bench->overlaps), 0);
}

static struct kunit_case rxe_cq_batch_cases[] = {
	KUNIT_CASE(batch_is_written_when_flushed),
	KUNIT_CASE(full_batch_is_written_at_once),
	KUNIT_CASE(user_cqe_has_the_layout_of_libibverbs),
	KUNIT_CASE(nobody_is_called_unasked),
	KUNIT_CASE(nobody_is_called_before_the_batch_tells),
	KUNIT_CASE(one_arm_is_one_call),
	KUNIT_CASE(solicited_arm_waits_for_a_solicited_one),
	KUNIT_CASE(solicited_arm_fires_on_an_error),
	KUNIT_CASE(overflow_loses_the_rest_and_is_an_event),
	KUNIT_CASE(calls_do_not_overlap_or_get_lost),
	KUNIT_CASE(nobody_is_called_after_the_stop),
	KUNIT_CASE(consumer_is_called_on_the_cpu_of_its_vector),
	KUNIT_CASE(arm_reports_what_is_there_if_asked),
	KUNIT_CASE(no_completion_slips_in_before_the_arm),
	{}
};

static struct kunit_suite rxe_cq_batch_suite = {
	.name = "rxe_cq_batch",
	.test_cases = rxe_cq_batch_cases,
};

kunit_test_suite(rxe_cq_batch_suite);
