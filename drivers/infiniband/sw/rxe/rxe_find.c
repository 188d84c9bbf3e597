// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The device and the QP that a packet is for.
 *
 * Stage:	rx, before the check of a packet
 * In:		a network device; a QP number
 * Out:		the device, the QP; neither counts a reference
 * Context:	softirq, RCU readers
 * Locks:	none, but a CPU's own with PREEMPT_RT
 * Never:	blocks who destroys a device or a QP: that waits for a grace
 *		period instead
 *
 * Packets come in bursts from few devices to few QPs, so each CPU remembers what
 * it found lately. Whoever takes something away makes all CPUs forget.
 */
#include <linux/if_vlan.h>
#include <linux/local_lock.h>
#include <linux/netdevice.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>

#include "rxe.h"
#include "rxe_find.h"

/* Powers of two; what falls on the same place displaces each other */
#define FOUND_DEVS	4
#define FOUND_QPS	16

struct found_dev {
	const struct net_device	*ndev;
	struct rxe_dev		*rxe;
};

struct found_qp {
	const struct rxe_dev	*rxe;
	struct rxe_qp		*qp;
	u32			index;
};

/**
 * struct found - What a CPU found lately
 * @lock: for PREEMPT_RT, where one softirq may get into another
 * @epoch: of the time when it was found
 * @devs: the RDMA devices of network devices or of what these are VLANs of
 * @qps: QPs by their device and their index in its pool
 */
struct found {
	local_lock_t		lock;
	int			epoch;
	struct found_dev	devs[FOUND_DEVS];
	struct found_qp		qps[FOUND_QPS];
};

static DEFINE_PER_CPU(struct found, found) = {
	.lock = INIT_LOCAL_LOCK(lock),
};

/* The number of things that have been taken away */
static atomic_t epoch;

static struct found *found_lately(void)
{
	struct found *lately = this_cpu_ptr(&found);
	/* what is looked up after this is not what was taken away before */
	int now = atomic_read_acquire(&epoch);

	if (unlikely(lately->epoch != now)) {
		memset(lately->devs, 0, sizeof(lately->devs));
		memset(lately->qps, 0, sizeof(lately->qps));
		lately->epoch = now;
	}
	return lately;
}

static struct rxe_dev *dev_of(struct net_device *ndev)
{
	struct rxe_dev *rxe = rxe_get_dev_from_net(ndev);

	if (!rxe && is_vlan_dev(ndev))
		rxe = rxe_get_dev_from_net(vlan_dev_real_dev(ndev));
	if (rxe)
		ib_device_put(&rxe->ib_dev);
	return rxe;
}

/**
 * rxe_find_dev() - Find the RDMA device of a network device
 * @ndev: the network device, or a VLAN of it
 *
 * Context: softirq, RCU reader.
 * Return: the device or NULL
 */
struct rxe_dev *rxe_find_dev(struct net_device *ndev)
{
	struct found_dev *dev;
	struct rxe_dev *rxe;

	local_lock_nested_bh(&found.lock);
	dev = &found_lately()->devs[ndev->ifindex % FOUND_DEVS];
	if (unlikely(dev->ndev != ndev || !dev->rxe)) {
		dev->ndev = ndev;
		dev->rxe = dev_of(ndev);
	}
	rxe = dev->rxe;
	local_unlock_nested_bh(&found.lock);
	return rxe;
}

/**
 * rxe_find_qp() - Find a QP
 * @rxe: its device
 * @index: its index in the device's pool
 *
 * Context: bottom halves disabled, RCU reader.
 * Return: the QP or NULL
 */
struct rxe_qp *rxe_find_qp(struct rxe_dev *rxe, u32 index)
{
	/* the first QPs of two devices have the same index */
	u32 place = index + rxe->ib_dev.index;
	struct found_qp *entry;
	struct rxe_qp *qp;

	local_lock_nested_bh(&found.lock);
	entry = &found_lately()->qps[place % FOUND_QPS];
	if (unlikely(entry->index != index || entry->rxe != rxe ||
		     !entry->qp)) {
		entry->rxe = rxe;
		entry->index = index;
		entry->qp = rxe_pool_peek_index(&rxe->qp_pool, index);
	}
	qp = entry->qp;
	local_unlock_nested_bh(&found.lock);
	return qp;
}

/**
 * rxe_find_forget() - Forget what was found
 *
 * To be called when it can be looked up no more.
 *
 * Context: any.
 */
void rxe_find_forget(void)
{
	/* ordered after what took it away */
	atomic_inc_return(&epoch);
}

/**
 * rxe_find_forget_sync() - Forget what was found, and wait for who still uses it
 *
 * Context: process, may sleep for an expedited grace period.
 */
void rxe_find_forget_sync(void)
{
	rxe_find_forget();
	synchronize_rcu_expedited();
}
