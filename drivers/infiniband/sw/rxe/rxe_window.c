// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * How many packets of a QP may be un-ACKed: what fits between here and the peer.
 *
 * Stage:	the requester; what it may send
 * In:		ACKs, NAKs, timeouts
 * Out:		a size
 * Context:	the send side's run
 * Locks:	none
 * Never:	looks at the clock or a QP
 *
 * What does not fit waits in the queues of hosts, devices and switches, and all
 * others' packets behind it, or is dropped; and a loss costs RC all that it has
 * sent after it. So the window halves when a packet is lost with what followed it
 * (as TCP's does, RFC 5681), and becomes a little smaller when one is lost alone,
 * smaller when a round trip takes much longer than the shortest one (as TIMELY's
 * rate does, SIGCOMM 2015), and larger by and by as long as packets wait for it.
 */
#include <linux/jiffies.h>

#include "rxe_window.h"

/* On a way where packets wait for so long, nobody needs to have more of them; from
 * half of it on it does not grow
 */
#define WINDOW_DELAY_MS		20

/* Many QPs have at least so many each, of which a unit can be made */
#define WINDOW_DELAYED_MIN	4

/* After so many flights it is the way that is long, and not a queue */
#define WINDOW_SLOW_FLIGHTS	64

/* An eighth per flight, and per packet that chance may have lost, of these no more
 * than a half in a flight
 */
#define WINDOW_GROWTH		8

/**
 * rxe_window_init() - Nothing is known of the way to the peer
 * @w: the window
 * @psn: of the first packet
 */
void rxe_window_init(struct rxe_window *w, u32 psn)
{
	*w = (struct rxe_window) {
		.size = RXE_WINDOW_FIRST,
		.quick = RXE_WINDOW_MAX,
		.mark = psn,
		.rtt_min = MAX_JIFFY_OFFSET,
		.slow_min = MAX_JIFFY_OFFSET,
	};
}

static void grow(struct rxe_window *w)
{
	if (w->size < w->quick)
		w->size = min(2 * w->size, w->quick);
	else
		w->size += max(w->size / WINDOW_GROWTH, 1);
	w->size = min(w->size, RXE_WINDOW_MAX);
}

static void shrink(struct rxe_window *w, u32 part)
{
	if (w->size > WINDOW_DELAYED_MIN)
		w->size = max(w->size - w->size / part, WINDOW_DELAYED_MIN);
	w->quick = w->size;
}

/*
 * What a sender of next to nothing waits for is not its own queue. Another way to
 * the peer may be longer than any before.
 */
static void doubt_shortest(struct rxe_window *w, unsigned long rtt, bool slow)
{
	if (!slow || w->size > WINDOW_DELAYED_MIN) {
		w->slow = 0;
		w->slow_min = MAX_JIFFY_OFFSET;
		return;
	}

	w->slow_min = min(w->slow_min, rtt);
	if (++w->slow == WINDOW_SLOW_FLIGHTS) {
		w->rtt_min = w->slow_min;
		w->slow = 0;
		w->slow_min = MAX_JIFFY_OFFSET;
	}
}

static void adapt(struct rxe_window *w, unsigned long rtt)
{
	unsigned long most = msecs_to_jiffies(WINDOW_DELAY_MS);
	unsigned long delay;

	w->rtt_min = min(w->rtt_min, rtt);
	doubt_shortest(w, rtt, rtt - w->rtt_min > most);
	delay = rtt - w->rtt_min;
	if (delay > 2 * most)
		shrink(w, 2);
	else if (delay > most)
		shrink(w, 4);
	else if (delay > most / 2)
		w->quick = min(w->quick, w->size);
	else if (w->limits)
		grow(w);
}

static void begin_flight(struct rxe_window *w, u32 next)
{
	w->mark = next;
	w->timed = false;
	w->limits = false;
	w->cut = false;
	w->halved = false;
}

/**
 * rxe_window_land() - A flight has ended
 * @w: the window
 * @next: PSN of the next packet, which begins another one
 * @now: jiffies
 *
 * Of a flight with a loss the round trip is not known: an ACK may be that of the
 * first transmission.
 */
void rxe_window_land(struct rxe_window *w, u32 next, unsigned long now)
{
	unsigned long rtt = now - w->marked;

	if (!w->cut)
		adapt(w, rtt);
	begin_flight(w, next);
}

/* Its round trip tells nothing */
static void spoil_flight(struct rxe_window *w, u32 next)
{
	begin_flight(w, next);
	w->cut = true;
	w->least = max(w->size / 2, RXE_WINDOW_MIN);
}

/**
 * rxe_window_lost() - A packet was lost, and a later one was not
 * @w: the window
 * @next: PSN of the next packet that has never been sent
 *
 * Chance does that as well as a queue that was full.
 */
void rxe_window_lost(struct rxe_window *w, u32 next)
{
	if (!w->cut)
		spoil_flight(w, next);
	w->size = max(w->size - w->size / WINDOW_GROWTH, min(w->size, w->least));
	w->quick = w->size;
}

/**
 * rxe_window_overflowed() - A packet was lost, and what was sent after it
 * @w: the window
 * @next: PSN of the next packet that has never been sent
 *
 * What else is lost until this flight has landed has the same cause.
 */
void rxe_window_overflowed(struct rxe_window *w, u32 next)
{
	if (w->halved)
		return;

	w->size = max(w->size / 2, RXE_WINDOW_MIN);
	w->quick = w->size;
	spoil_flight(w, next);
	w->halved = true;
}

/**
 * rxe_window_silent() - Nothing of what was sent last has been answered in time
 * @w: the window
 * @next: PSN of the next packet that has never been sent
 */
void rxe_window_silent(struct rxe_window *w, u32 next)
{
	w->quick = max(w->size / 2, RXE_WINDOW_MIN);
	w->size = RXE_WINDOW_MIN;
	spoil_flight(w, next);
	w->halved = true;
}
