/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef RXE_RTO_H
#define RXE_RTO_H

#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/types.h>

/* Assumed of a round trip that has not been measured, in ms */
#define RXE_RTO_UNKNOWN_MS	50

/* A host that is busy answers so much later than it did, in ms */
#define RXE_RTO_SLACK_MS	10

/* What a queue of this host has dropped is sent again when it may have room */
#define RXE_RTO_DROPPED		2

#define RXE_RTO_MAX_TRIES	16

/**
 * struct rxe_rto - When what has been sent is sent again
 * @rtt: the longest round trip of late, in jiffies
 * @from: of the last answer, or when the oldest packet was sent, in jiffies
 * @since: the peer has got no further since then, in jiffies
 * @tries: retries since then
 * @dropped: this host has dropped something
 *
 * A QP's timeout is what its user chose for a peer that is gone, 67 ms to
 * seconds (IBTA volume 1, section 9.7.6.1.3); then one of retry_cnt has failed.
 * If what was lost is the last of what was sent, so that no NAK tells, to wait
 * for that would take thousands of round trips. A request that arrives twice is
 * harmless (section 9.7.5.1.3), so it is sent again as soon as an answer is
 * overdue, and after that less and less often, while the timeout counts on.
 *
 * Only the send side's run touches it.
 */
struct rxe_rto {
	unsigned long	rtt;
	unsigned long	from;
	unsigned long	since;
	u8		tries;
	bool		dropped;
};

/**
 * rxe_rto_init() - Nothing is known of the peer
 * @rto: the QP's
 */
static inline void rxe_rto_init(struct rxe_rto *rto)
{
	*rto = (struct rxe_rto) {
		.rtt = msecs_to_jiffies(RXE_RTO_UNKNOWN_MS),
	};
}

/**
 * rxe_rto_measured() - Note how long a round trip took
 * @rto: the QP's
 * @rtt: in jiffies
 */
static inline void rxe_rto_measured(struct rxe_rto *rto, unsigned long rtt)
{
	rto->rtt = max(rto->rtt - (rto->rtt + 7) / 8, rtt);
}

/**
 * rxe_rto_sent() - Note that the oldest packet is sent, maybe again
 * @rto: the QP's
 * @now: jiffies
 */
static inline void rxe_rto_sent(struct rxe_rto *rto, unsigned long now)
{
	rto->from = now;
	if (!rto->tries)
		rto->since = now;
}

/**
 * rxe_rto_heard() - Note an answer that tells more than the ones before
 * @rto: the QP's
 * @now: jiffies
 */
static inline void rxe_rto_heard(struct rxe_rto *rto, unsigned long now)
{
	rto->from = now;
	rto->since = now;
	rto->tries = 0;
}

/**
 * rxe_rto_drop() - Note that this host has dropped a packet
 * @rto: the QP's
 * @now: jiffies
 */
static inline void rxe_rto_drop(struct rxe_rto *rto, unsigned long now)
{
	rto->from = now;
	rto->dropped = true;
}

/**
 * rxe_rto_ends() - When is an answer overdue?
 * @rto: the QP's
 * @timeout: the QP's, in jiffies, not 0
 *
 * Return: then, in jiffies
 */
static inline unsigned long rxe_rto_ends(const struct rxe_rto *rto,
					 unsigned long timeout)
{
	unsigned long wait = rto->dropped ? RXE_RTO_DROPPED :
			     2 * rto->rtt + msecs_to_jiffies(RXE_RTO_SLACK_MS);
	unsigned long end = rto->from + min(wait << rto->tries, timeout);

	return time_before(end, rto->since + timeout) ? end :
							rto->since + timeout;
}

/**
 * rxe_rto_expired() - Note that an answer is overdue
 * @rto: the QP's
 * @timeout: the QP's, in jiffies, not 0
 * @now: jiffies
 *
 * Return: true if the QP's timeout has passed as well
 */
static inline bool rxe_rto_expired(struct rxe_rto *rto, unsigned long timeout,
				   unsigned long now)
{
	bool failed = time_after_eq(now, rto->since + timeout);

	rto->from = now;
	if (rto->tries < RXE_RTO_MAX_TRIES)
		rto->tries++;
	if (failed)
		rto->since = now;
	return failed;
}

#endif /* RXE_RTO_H */
