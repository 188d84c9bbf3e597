// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What waits for a CPU's softirq: the sides of QPs, for packets until the network
 * stack has delivered all it has, and then each runs once; after them the
 * consumers that are to be called.
 *
 * Stage:	between a kick and the run
 * In:		a side, or a consumer's calls, that is busy
 * Out:		a run of each side, bounded by a budget; a call of each consumer
 * Context:	softirq of the CPU that was kicked; NAPI's budget and re-arming
 * Locks:	none; a list that anyone adds to and the poll takes whole
 * Never:	sees a packet
 */
#include <linux/bottom_half.h>
#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/irqflags.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/llist.h>
#include <linux/netdevice.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/smp.h>

#include "rxe.h"
#include "rxe_notify.h"
#include "rxe_poll.h"
#include "rxe_run.h"

/*
 * Passes of all runs in a poll, and of one of them. A pass sends at most one
 * packet, and nothing drains the backlog behind a veth device (1000 packets)
 * meanwhile. Enough for the packets that the stack delivers at a time (64), or
 * for a READ of 64 KiB, to be answered at once.
 */
#define POLL_PASSES	640
#define POLL_SIDE_PASSES 80

/* Ticks after which a poll begins no other run, as in net_rx_action() */
#define POLL_TICKS	2

/**
 * struct rxe_poll - One CPU's sides and their poll
 * @added: the last one added comes first; anyone adds
 * @corked: like @added, for sides that wait for the next poll or for @timer
 * @waiting: taken from those two, in order; only the poll sees them
 * @uncork: when @corked has to be polled, in ns
 * @timer: for @uncork, and queued whenever @corked has any; may be early
 * @calls: consumers that are to be called
 * @call: has @napi scheduled for another CPU
 * @called: @call is on its way; one at a time
 * @napi: scheduled whenever one of the lists but @corked has any
 */
struct rxe_poll {
	struct llist_head	added;
	struct llist_head	corked;
	struct llist_node	*waiting;
	u64			uncork;
	struct hrtimer		timer;
	struct llist_head	calls;
	call_single_data_t	call;
	int			called;
	struct napi_struct	napi;
};

static DEFINE_PER_CPU(struct rxe_poll, rxe_polls);

/* NAPI wants a device; it belongs to no network namespace and does nothing */
static struct net_device *poll_dev;

static struct rxe_side *next_side(struct rxe_poll *poll)
{
	struct llist_node *node = poll->waiting;

	/* the corked ones first: they have waited, and come from processes */
	if (!node && !llist_empty(&poll->corked))
		node = llist_reverse_order(llist_del_all(&poll->corked));
	if (!node && !llist_empty(&poll->added))
		node = llist_reverse_order(llist_del_all(&poll->added));
	if (!node)
		return NULL;

	poll->waiting = node->next;
	return llist_entry(node, struct rxe_side, node);
}

/* Returns what NAPI's poll does: the sides that ran, or all of @budget */
static int run_sides(struct rxe_poll *poll, int budget)
{
	unsigned long end = jiffies + POLL_TICKS;
	unsigned int passes = 0;
	struct rxe_side *side;
	int n = 0;

	while (n < budget && (side = next_side(poll))) {
		passes += rxe_run_polled(side, POLL_SIDE_PASSES);
		n++;
		if (passes >= POLL_PASSES || time_after_eq(jiffies, end))
			return budget;
	}
	return n;
}

static void call_consumers(struct rxe_poll *poll)
{
	struct llist_node *node, *next;

	if (llist_empty(&poll->calls))
		return;

	node = llist_reverse_order(llist_del_all(&poll->calls));
	for (; node; node = next) {
		next = node->next;
		rxe_notify_run(llist_entry(node, struct rxe_notify, node));
	}
}

static int do_poll(struct napi_struct *napi, int budget)
{
	struct rxe_poll *poll = container_of(napi, struct rxe_poll, napi);
	int n = run_sides(poll, budget);

	call_consumers(poll);
	if (n < budget)
		napi_complete_done(napi, n);
	return n;
}

static void schedule_poll(void *arg)
{
	struct rxe_poll *poll = arg;

	/* who adds one from now on calls again; the others' the poll finds */
	xchg(&poll->called, 0);
	napi_schedule(&poll->napi);
}

/**
 * rxe_poll_add() - Have a side run when the stack has delivered what it has
 * @side: the side, busy and in no other queue
 *
 * Context: bottom halves or interrupts disabled.
 */
void rxe_poll_add(struct rxe_side *side)
{
	struct rxe_poll *poll = this_cpu_ptr(&rxe_polls);

	/* who has found the list empty has it polled */
	if (llist_add(&side->node, &poll->added))
		napi_schedule(&poll->napi);
}

/**
 * rxe_poll_cork() - Have a side run soon, with what it is kicked for until then
 * @side: the side, busy and in no other queue
 * @until: when it has to run at the latest, in ns of ktime_get()
 *
 * It runs as soon as this CPU's poll does, for whatever reason.
 *
 * Context: bottom halves disabled.
 */
void rxe_poll_cork(struct rxe_side *side, u64 until)
{
	struct rxe_poll *poll = this_cpu_ptr(&rxe_polls);

	if (llist_empty(&poll->corked) || until < READ_ONCE(poll->uncork))
		WRITE_ONCE(poll->uncork, until);
	llist_add(&side->node, &poll->corked);

	/* most often it is on its way for others, which have run meanwhile */
	if (!hrtimer_is_queued(&poll->timer) ||
	    ktime_to_ns(hrtimer_get_expires(&poll->timer)) > until)
		hrtimer_start(&poll->timer, ns_to_ktime(until),
			      HRTIMER_MODE_ABS_PINNED);
}

/**
 * rxe_poll_uncork() - Have the corked sides run when the stack is done
 *
 * Context: any.
 */
void rxe_poll_uncork(void)
{
	struct rxe_poll *poll = raw_cpu_ptr(&rxe_polls);

	if (llist_empty(&poll->corked))
		return;

	if (in_interrupt() || irqs_disabled()) {
		napi_schedule(&poll->napi);
	} else {
		local_bh_disable();
		napi_schedule(&poll->napi);
		local_bh_enable();
	}
}

static enum hrtimer_restart time_is_up(struct hrtimer *timer)
{
	struct rxe_poll *poll = container_of(timer, struct rxe_poll, timer);
	u64 uncork = READ_ONCE(poll->uncork);

	if (llist_empty(&poll->corked))
		return HRTIMER_NORESTART;

	if (ktime_get_ns() < uncork)
		hrtimer_start(timer, ns_to_ktime(uncork),
			      HRTIMER_MODE_ABS_PINNED);
	else
		napi_schedule(&poll->napi);
	return HRTIMER_NORESTART;
}

/**
 * rxe_poll_add_notify() - Have a consumer called
 * @notify: its calls, busy and in no other list
 *
 * On this CPU if the one that it wants is offline, or it does not care.
 *
 * Context: any with interrupts enabled.
 */
void rxe_poll_add_notify(struct rxe_notify *notify)
{
	struct rxe_poll *poll;
	int cpu = notify->cpu;
	int here;

	local_bh_disable();
	/* no CPU goes offline meanwhile */
	here = get_cpu();
	if (cpu == RXE_NOTIFY_ANYWHERE || !cpu_online(cpu))
		cpu = here;
	poll = per_cpu_ptr(&rxe_polls, cpu);
	if (llist_add(&notify->node, &poll->calls)) {
		if (cpu == here)
			napi_schedule(&poll->napi);
		else if (!xchg(&poll->called, 1))
			smp_call_function_single_async(cpu, &poll->call);
	}
	put_cpu();
	local_bh_enable();
}

/**
 * rxe_poll_init() - Set up all CPUs' polls
 *
 * If a CPU goes offline, NAPI moves its poll to another one.
 *
 * Context: process.
 * Return: 0 or -ENOMEM
 */
int rxe_poll_init(void)
{
	struct rxe_poll *poll;
	int cpu;

	poll_dev = alloc_netdev_dummy(0);
	if (!poll_dev)
		return -ENOMEM;

	for_each_possible_cpu(cpu) {
		poll = per_cpu_ptr(&rxe_polls, cpu);
		init_llist_head(&poll->added);
		init_llist_head(&poll->corked);
		hrtimer_setup(&poll->timer, time_is_up, CLOCK_MONOTONIC,
			      HRTIMER_MODE_ABS_PINNED);
		init_llist_head(&poll->calls);
		INIT_CSD(&poll->call, schedule_poll, poll);
		netif_napi_add(poll_dev, &poll->napi, do_poll);
		napi_enable(&poll->napi);
	}
	return 0;
}

/**
 * rxe_poll_exit() - Undo rxe_poll_init()
 *
 * All QPs and CQs are gone by now, and each has waited for its runs.
 *
 * Context: process, may sleep.
 */
void rxe_poll_exit(void)
{
	struct rxe_poll *poll;
	int cpu;

	for_each_possible_cpu(cpu) {
		poll = per_cpu_ptr(&rxe_polls, cpu);
		while (READ_ONCE(poll->called))
			cond_resched();
		hrtimer_cancel(&poll->timer);
		napi_disable(&poll->napi);
		netif_napi_del(&poll->napi);
		WARN_ON(poll->waiting || !llist_empty(&poll->added) ||
			!llist_empty(&poll->corked) ||
			!llist_empty(&poll->calls));
	}
	free_netdev(poll_dev);
}
