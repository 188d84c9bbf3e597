/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * How a check ends: exit 0 passed, 1 failed, 77 skipped, with one line that
 * says why on standard error. The peer is told the same line, so that both
 * ends name the cause and neither waits for a time-out.
 */
#ifndef CHECK_REPORT_H
#define CHECK_REPORT_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum check_status {
	CHECK_OK = 0,
	CHECK_FAILED = 1,
	CHECK_SKIPPED = 77,
};

/* "client" or "server"; then what is being done, for the error line. */
static const char *check_role = "verbs_check";
static char check_doing[128];

/* Tells the peer how this end ended; set once the side channel is up. */
static void (*check_tell_peer)(enum check_status status, const char *why);

static void check_end(enum check_status status, const char *fmt, va_list ap)
{
	char why[512];

	vsnprintf(why, sizeof(why), fmt, ap);
	fprintf(stderr, "%s: %s%s%s%s\n", check_role, check_doing,
		*check_doing ? ": " : "",
		status == CHECK_SKIPPED ? "skipped: " : "", why);
	if (check_tell_peer)
		check_tell_peer(status, why);
	exit(status);
}

__attribute__((noreturn, format(printf, 1, 2)))
static void fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	check_end(CHECK_FAILED, fmt, ap);
	va_end(ap);
	abort();
}

__attribute__((noreturn, format(printf, 1, 2)))
static void skip(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	check_end(CHECK_SKIPPED, fmt, ap);
	va_end(ap);
	abort();
}

/* The alarm that bounds a whole run: no lock, no stdio, no peer. */
static void check_late(int signal)
{
	static const char text[] = "verbs_check: not finished in time (-T)\n";
	ssize_t n = write(STDERR_FILENO, text, sizeof(text) - 1);

	(void)signal;
	(void)n;
	_exit(CHECK_FAILED);
}

#endif
