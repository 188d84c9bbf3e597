/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef RXE_RUN_H
#define RXE_RUN_H

#include <linux/types.h>

#include "rxe_side.h"

struct rxe_dev;
struct rxe_qp;

/* Process context */
int rxe_run_init(void);
void rxe_run_exit(void);
void rxe_run_queue_work(struct work_struct *work);

/* Process context; get may sleep for a grace period */
void rxe_run_odp_get(struct rxe_dev *rxe);
void rxe_run_odp_put(struct rxe_dev *rxe);

/* Process context; stop and end sleep until the side runs no more */
void rxe_run_setup(struct rxe_side *side, struct rxe_qp *qp,
		   int (*pass)(struct rxe_qp *qp),
		   void (*rest)(struct rxe_qp *qp));
void rxe_run_stop(struct rxe_side *side);
void rxe_run_start(struct rxe_side *side);
void rxe_run_end(struct rxe_side *side);

/* Process context, no lock held; the side has run afterwards */
bool rxe_run_here(struct rxe_side *side, u32 why);

/* Process context; the side runs by the given time */
void rxe_run_corked(struct rxe_side *side, u32 why, u64 until);

/* Any context; the side runs later */
void rxe_run_in_work(struct rxe_side *side, u32 why);
void rxe_run_kick(struct rxe_side *side, u32 why);
void rxe_run_timer(struct rxe_side *side);

/* Softirq */
unsigned int rxe_run_polled(struct rxe_side *side, unsigned int budget);

#endif /* RXE_RUN_H */
