// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The QPs that packets have arrived for wait here, per CPU, until the network
 * stack has delivered all it has; then each runs once.
 *
 * Stage:	between a QP's queue of received packets and its tasks
 * In:		a task whose QP has got a packet
 * Out:		a run of each task, bounded by a budget
 * Context:	softirq of the CPU that received; NAPI's budget and re-arming
 * Locks:	the CPU's list of tasks
 * Never:	sees a packet
 */
#include <linux/netdevice.h>
#include <linux/percpu.h>

#include "rxe.h"
#include "rxe_poll.h"
#include "rxe_run.h"

/* Tasks that wait on a CPU; more go to the workqueue */
#define POLL_TASKS	64

/*
 * Passes of all runs in a poll, and of one of them. A pass sends at most one
 * packet, and nothing drains the backlog behind a veth device (1000 packets)
 * meanwhile. Enough for the packets that the stack delivers at a time (64), or
 * for a READ of 64 KiB, to be answered at once.
 */
#define POLL_PASSES	640
#define POLL_TASK_PASSES 80

/**
 * struct rxe_poll - One CPU's list and its poll
 * @lock: serializes a CPU with the one that polls for it while it is offline
 * @n: tasks that wait
 * @tasks: each once; each holds a reference to its QP
 * @napi: scheduled whenever @n is not 0
 */
struct rxe_poll {
	spinlock_t		lock;	/* n and tasks */
	unsigned int		n;
	struct rxe_task		*tasks[POLL_TASKS];
	struct napi_struct	napi;
};

static DEFINE_PER_CPU(struct rxe_poll, rxe_polls);

/* NAPI wants a device; it belongs to no network namespace and does nothing */
static struct net_device *poll_dev;

static struct rxe_task *waiting_task(struct rxe_poll *poll)
{
	struct rxe_task *task = NULL;

	spin_lock(&poll->lock);
	if (poll->n)
		task = poll->tasks[--poll->n];
	spin_unlock(&poll->lock);
	return task;
}

static int run_tasks(struct napi_struct *napi, int budget)
{
	struct rxe_poll *poll = container_of(napi, struct rxe_poll, napi);
	unsigned int each = min(POLL_PASSES / max(READ_ONCE(poll->n), 1U),
				POLL_TASK_PASSES);
	struct rxe_task *task;
	int n = 0;

	while (n < budget && (task = waiting_task(poll))) {
		rxe_run_polled(task, each);
		n++;
	}

	if (n < budget)
		napi_complete_done(napi, n);
	return n;
}

/**
 * rxe_poll_add() - Have a task run when the stack has delivered what it has
 * @task: the task; the caller holds a reference to its QP
 *
 * Context: softirq.
 * Return: false if too many tasks wait on this CPU
 */
bool rxe_poll_add(struct rxe_task *task)
{
	struct rxe_poll *poll = this_cpu_ptr(&rxe_polls);
	unsigned int i;

	spin_lock(&poll->lock);
	/* most packets are for the same QP as the one before */
	for (i = poll->n; i > 0; i--)
		if (poll->tasks[i - 1] == task)
			goto done;

	if (poll->n == POLL_TASKS) {
		spin_unlock(&poll->lock);
		return false;
	}
	rxe_get(task->qp);
	poll->tasks[poll->n++] = task;
	if (poll->n == 1)
		napi_schedule(&poll->napi);
done:
	spin_unlock(&poll->lock);
	return true;
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
		spin_lock_init(&poll->lock);
		netif_napi_add(poll_dev, &poll->napi, run_tasks);
		napi_enable(&poll->napi);
	}
	return 0;
}

/**
 * rxe_poll_exit() - Undo rxe_poll_init()
 *
 * All QPs are gone by now, and each has waited for its tasks.
 *
 * Context: process, may sleep.
 */
void rxe_poll_exit(void)
{
	struct rxe_poll *poll;
	int cpu;

	for_each_possible_cpu(cpu) {
		poll = per_cpu_ptr(&rxe_polls, cpu);
		napi_disable(&poll->napi);
		netif_napi_del(&poll->napi);
		WARN_ON(poll->n);
	}
	free_netdev(poll_dev);
}
