// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Bytes that a QP has in qdiscs, devices and loopback queues of this host.
 *
 * Stage:	tx; bounds what a QP hands down to the stack
 * In:		packets on their way out; skbs that the stack is done with
 * Out:		a run that stops at the limit, and a kick when there is room
 * Context:	charge and full: the QP's runs; write_space: an skb destructor,
 *		possibly under a device's tx lock
 * Locks:	sk_callback_lock keeps the QP alive in write_space
 * Never:	runs a side from a destructor
 */
#include <linux/refcount.h>
#include <linux/sizes.h>
#include <net/sock.h>

#include "rxe.h"
#include "rxe_inflight.h"
#include "rxe_run.h"
#include "rxe_trace.h"

/*
 * A QP's share of the host's queues: as many packets of the size that it
 * sends. fq drops what exceeds 100 packets of a flow, and a QP is one; a qdisc
 * of the usual 1000 packets has room for ten QPs.
 */
#define INFLIGHT_PACKETS	96

/* A QP that stopped goes on when half of its share is free */
#define INFLIGHT_RESUME(limit)	((limit) / 2)

/* Weight of a shorter packet in the size that the limit is made of */
#define SIZE_DECAY		16

u32 rxe_inflight_bytes(const struct rxe_qp *qp)
{
	return sk_wmem_alloc_get(qp->sk->sk);
}

u32 rxe_inflight_limit(const struct rxe_qp *qp)
{
	return INFLIGHT_PACKETS * READ_ONCE(qp->inflight_size);
}

static bool has_room(const struct rxe_qp *qp)
{
	return rxe_inflight_bytes(qp) <=
	       INFLIGHT_RESUME(rxe_inflight_limit(qp));
}

/*
 * Follow the size of the QP's packets, up at once and down slowly: a short
 * message among long ones must not take their room. Both sides may be here at
 * a time; what one of them learns may be lost until its next packet.
 */
static void learn_size(struct rxe_qp *qp, u32 truesize)
{
	u32 size = READ_ONCE(qp->inflight_size);

	if (truesize < size)
		size -= (size - truesize) / SIZE_DECAY;
	else
		size = truesize;
	WRITE_ONCE(qp->inflight_size, size);
}

/*
 * Called by sock_wfree() for each skb that the stack has freed. sk_user_data
 * is the QP only while it waits for room, so that the usual case is one load.
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

	read_lock(&sk->sk_callback_lock);
	qp = READ_ONCE(sk->sk_user_data);
	if (qp && has_room(qp) && xchg(&sk->sk_user_data, NULL) &&
	    rxe_get(qp)) {
		rxe_run_kick(&qp->send_side, RXE_KICK_ROOM);
		rxe_run_kick(&qp->recv_side, RXE_KICK_ROOM);
		rxe_put(qp);
	}
	read_unlock(&sk->sk_callback_lock);
}

void rxe_inflight_init(struct rxe_qp *qp)
{
	struct sock *sk = qp->sk->sk;

	qp->inflight_size = SKB_TRUESIZE(SKB_WITH_OVERHEAD(SZ_1K));
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

/**
 * rxe_inflight_charge() - Charge a packet to its QP until the stack frees it
 * @pkt: the packet
 * @skb: its skb; the truesize is what counts
 *
 * Context: the QP's runs.
 */
void rxe_inflight_charge(const struct rxe_pkt_info *pkt, struct sk_buff *skb)
{
	struct rxe_qp *qp = pkt->qp;

	if (pkt->mask & RXE_PAYLOAD_MASK)
		learn_size(qp, skb->truesize);

	skb_set_owner_w(skb, qp->sk->sk);
	/* RC wants its packets in order even when none is queued here */
	skb->ooo_okay = 0;
	trace_rxe_inflight(qp);
}

/**
 * rxe_inflight_join() - Charge a packet that another one will carry
 * @pkt: the packet
 * @truesize: its own
 * @added: bytes that the truesize of the other one has grown by
 *
 * Until the stack frees the other one, which is charged.
 *
 * Context: the QP's runs.
 */
void rxe_inflight_join(const struct rxe_pkt_info *pkt, u32 truesize,
		       u32 added)
{
	struct rxe_qp *qp = pkt->qp;

	if (pkt->mask & RXE_PAYLOAD_MASK)
		learn_size(qp, truesize);

	refcount_add(added, &qp->sk->sk->sk_wmem_alloc);
	trace_rxe_inflight(qp);
}

/**
 * rxe_inflight_full() - Must a QP wait for the stack before it sends more?
 * @qp: the QP
 *
 * Context: the QP's runs.
 * Return: true when it has its share in flight; then both sides are kicked
 * again once half of it is free.
 */
bool rxe_inflight_full(struct rxe_qp *qp)
{
	if (likely(rxe_inflight_bytes(qp) < rxe_inflight_limit(qp)))
		return false;

	WRITE_ONCE(qp->sk->sk->sk_user_data, qp);
	/* pairs with the barrier in inflight_write_space(): look again, for
	 * the last skb may have been freed before we said that we wait
	 */
	smp_mb();

	return !has_room(qp);
}
