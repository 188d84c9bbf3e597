/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef RXE_RETRY_H
#define RXE_RETRY_H

#include <linux/types.h>

struct rxe_qp;
struct rxe_send_wqe;

void rxe_retry_set_timer(struct rxe_qp *qp);
bool rxe_retry_overdue(const struct rxe_qp *qp);
bool rxe_retry_counts(struct rxe_qp *qp);
void rxe_retry(struct rxe_qp *qp, struct rxe_send_wqe *wqe);
void rxe_retry_acked(struct rxe_qp *qp);
void rxe_retry_missed(struct rxe_qp *qp);
void rxe_retry_dropped(struct rxe_qp *qp);

#endif /* RXE_RETRY_H */
