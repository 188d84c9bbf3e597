// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Bytes that a QP has in qdiscs, devices and loopback queues of this host.
 *
 * Stage:	tx; bounds what requester and responder hand down to the stack
 * In:		packets on their way out; skbs that the stack is done with
 * Out:		tasks that stop at the limit and are scheduled again
 * Context:	charge and full: the QP's tasks; write_space: an skb destructor,
 *		possibly under a device's tx lock
 * Locks:	sk_callback_lock keeps the QP alive in write_space
 * Never:	runs a task from a destructor
 */
#include <linux/sizes.h>
#include <net/sock.h>

#include "rxe.h"
#include "rxe_inflight.h"
#include "rxe_trace.h"

/*
 * In truesize, so that it bounds memory whatever the size of the packets.
 * High: what the PSN window of an RC QP holds at a path MTU of 4096 (128
 * packets of some 8.5 KiB), so that RC is paced by its peer's ACKs and only
 * UC, UD and read replies, which have none, by this host's devices. Low: who
 * stopped goes on with room for a batch.
 */
#define INFLIGHT_HIGH	SZ_1M
#define INFLIGHT_LOW	(INFLIGHT_HIGH / 2)

/*
 * Called by sock_wfree() for each skb that the stack has freed. sk_user_data
 * is the QP only while one of its tasks waits for room, so that the usual
 * case is one load.
 */
static void inflight_write_space(struct sock *sk)
{
	struct rxe_qp *qp;

	/* pairs with the barrier in rxe_inflight_full(): here the subtraction
	 * from sk_wmem_alloc, there the store to sk_user_data comes first
	 */
	smp_mb__after_atomic();
	if (likely(!READ_ONCE(sk->sk_user_data)))
		return;
	if (sk_wmem_alloc_get(sk) > INFLIGHT_LOW)
		return;

	read_lock(&sk->sk_callback_lock);
	qp = xchg(&sk->sk_user_data, NULL);
	if (qp && rxe_get(qp)) {
		rxe_sched_task(&qp->send_task);
		rxe_sched_task(&qp->recv_task);
		rxe_put(qp);
	}
	read_unlock(&sk->sk_callback_lock);
}

void rxe_inflight_init(struct rxe_qp *qp)
{
	struct sock *sk = qp->sk->sk;

	qp->sk_write_space = sk->sk_write_space;
	sk->sk_write_space = inflight_write_space;
}

/*
 * Packets of the QP may outlive it; they keep the socket, and must not reach
 * the QP through it any more.
 */
void rxe_inflight_cleanup(struct rxe_qp *qp)
{
	struct sock *sk = qp->sk->sk;

	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_user_data = NULL;
	WRITE_ONCE(sk->sk_write_space, qp->sk_write_space);
	write_unlock_bh(&sk->sk_callback_lock);
}

int rxe_inflight_bytes(const struct rxe_qp *qp)
{
	return sk_wmem_alloc_get(qp->sk->sk);
}

/**
 * rxe_inflight_charge() - Charge a packet to a QP until the stack frees it
 * @qp: the QP that sends it
 * @skb: the packet; its truesize is what counts
 */
void rxe_inflight_charge(struct rxe_qp *qp, struct sk_buff *skb)
{
	skb_set_owner_w(skb, qp->sk->sk);
	trace_rxe_inflight(qp, rxe_inflight_bytes(qp));
}

/**
 * rxe_inflight_full() - Must a QP wait for the stack before it sends more?
 * @qp: the QP
 *
 * Context: the QP's tasks.
 * Return: true when the limit is reached; then both tasks are scheduled again
 * once half of it is free.
 */
bool rxe_inflight_full(struct rxe_qp *qp)
{
	struct sock *sk = qp->sk->sk;

	if (likely(rxe_inflight_bytes(qp) < INFLIGHT_HIGH))
		return false;

	WRITE_ONCE(sk->sk_user_data, qp);
	/* pairs with the barrier in inflight_write_space(): look again, for
	 * the last skb may have been freed before we said that we wait
	 */
	smp_mb();

	return rxe_inflight_bytes(qp) > INFLIGHT_LOW;
}
