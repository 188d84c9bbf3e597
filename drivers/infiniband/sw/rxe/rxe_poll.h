/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef RXE_POLL_H
#define RXE_POLL_H

struct rxe_notify;
struct rxe_side;

/* Module init and exit; no QP exists before or after */
int rxe_poll_init(void);
void rxe_poll_exit(void);

/* Bottom halves or interrupts disabled */
void rxe_poll_add(struct rxe_side *side);
void rxe_poll_cork(struct rxe_side *side, u64 until);
void rxe_poll_uncork(void);

/* Interrupts enabled */
void rxe_poll_add_notify(struct rxe_notify *notify);

#endif /* RXE_POLL_H */
