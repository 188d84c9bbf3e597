// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Jobs: fork, pipes or a terminal, input waiting to be taken, output passed
 * to the host as it comes, and the end.
 *
 * A job ends with its shell. What the shell left behind in the background
 * keeps running, but nobody reads its output any more.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "agent.h"
#include "job.h"

struct job {
	struct job *next;
	uint32_t id;
	pid_t pid;		/* of the shell; also the session */
	int in;			/* ours: write end, or the terminal */
	int out;		/* ours: read end, or the terminal */
	int err;		/* ours: read end, -1 with a terminal */
	bool tty;
	bool in_closing;	/* close @in when @input is written */
	char *input;
	size_t input_len;
};

/* The child's three descriptors, made beside the job's. */
struct child_fds {
	int in;
	int out;
	int err;
};

static struct job *jobs;

static struct job *find_job(uint32_t id)
{
	struct job *j = jobs;

	while (j && j->id != id)
		j = j->next;
	return j;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void free_job(struct job *job)
{
	struct job **p = &jobs;

	while (*p && *p != job)
		p = &(*p)->next;
	if (*p)
		*p = job->next;
	if (job->in != job->out)
		close_fd(&job->in);
	close_fd(&job->out);
	close_fd(&job->err);
	free(job->input);
	free(job);
}

static void start_failed(struct job *job, int error)
{
	uint32_t word = (uint32_t)error;

	agent_send(FRAME_STARTFAIL, job->id, &word, sizeof(word));
	free_job(job);
}

static int open_pipes(struct job *job, struct child_fds *child)
{
	int in[2], out[2], err[2];

	if (pipe2(in, O_CLOEXEC))
		return -1;
	job->in = in[1];
	child->in = in[0];
	if (pipe2(out, O_CLOEXEC))
		return -1;
	job->out = out[0];
	child->out = out[1];
	if (pipe2(err, O_CLOEXEC))
		return -1;
	job->err = err[0];
	child->err = err[1];
	fcntl(job->in, F_SETFL, O_NONBLOCK);
	fcntl(job->out, F_SETFL, O_NONBLOCK);
	fcntl(job->err, F_SETFL, O_NONBLOCK);
	return 0;
}

static int open_terminal(struct job *job, struct child_fds *child)
{
	int ours = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	int theirs;

	if (ours < 0)
		return -1;
	job->in = ours;
	job->out = ours;
	if (unlockpt(ours))
		return -1;
	theirs = ioctl(ours, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (theirs < 0)
		return -1;
	child->in = theirs;
	child->out = theirs;
	child->err = theirs;
	fcntl(ours, F_SETFL, O_NONBLOCK);
	return 0;
}

/* In the child. @data holds: command, cwd, NAME=value... up to @end. */
static void run_child(char *data, const char *end, const struct child_fds *fds,
		      bool tty, int report)
{
	char *cwd = data + strlen(data) + 1;
	sigset_t none;
	int error;

	setsid();
	if (tty)
		ioctl(fds->in, TIOCSCTTY, 0);
	dup2(fds->in, 0);
	dup2(fds->out, 1);
	dup2(fds->err, 2);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (cwd >= end || chdir(*cwd ? cwd : "/root") == 0) {
		char *env = cwd < end ? cwd + strlen(cwd) + 1 : cwd;

		for (; env < end; env += strlen(env) + 1)
			putenv(env);
		execl("/bin/sh", "sh", "-c", data, (char *)NULL);
	}
	error = errno;
	if (write(report, &error, sizeof(error)) < 0)
		_exit(126);
	_exit(127);
}

static void close_child_fds(struct child_fds *fds, bool tty)
{
	close_fd(&fds->in);
	if (tty)
		return;
	close_fd(&fds->out);
	close_fd(&fds->err);
}

/* Returns the errno of what kept the child from running the shell, or 0. */
static int fork_shell(struct job *job, char *data, size_t len,
		      struct child_fds *fds)
{
	int report[2], error = 0;

	if (pipe2(report, O_CLOEXEC))
		return errno;
	job->pid = fork();
	if (job->pid == 0)
		run_child(data, data + len, fds, job->tty, report[1]);
	if (job->pid < 0)
		error = errno;
	close(report[1]);
	/* End of file without a word: the shell has been executed. */
	if (!error && read(report[0], &error, sizeof(error)) < 0)
		error = errno;
	close(report[0]);
	return error;
}

void job_start(uint32_t id, char *data, size_t len, bool tty)
{
	struct child_fds fds = { -1, -1, -1 };
	struct job *job = calloc(1, sizeof(*job));
	int error = 0;

	if (!job)
		return;
	job->id = id;
	job->tty = tty;
	job->in = -1;
	job->out = -1;
	job->err = -1;
	job->next = jobs;
	jobs = job;
	if (tty ? open_terminal(job, &fds) : open_pipes(job, &fds))
		error = errno;
	if (!error)
		error = fork_shell(job, data, len, &fds);
	close_child_fds(&fds, tty);
	if (error)
		start_failed(job, error);
}

/* Writes what the job takes now; the rest waits for poll(). */
static void push_input(struct job *job)
{
	while (job->input_len) {
		ssize_t n = write(job->in, job->input, job->input_len);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n < 0)
			n = job->input_len;	/* nobody reads it any more */
		job->input_len -= n;
		memmove(job->input, job->input + n, job->input_len);
	}
	if (!job->in_closing)
		return;
	if (job->tty)
		job->in_closing = write(job->in, "\004", 1) < 0;
	else
		close_fd(&job->in);
}

void job_input(uint32_t id, const void *data, size_t len)
{
	struct job *job = find_job(id);
	char *grown;

	if (!job || job->in < 0)
		return;
	if (!len) {
		job->in_closing = true;
	} else {
		grown = realloc(job->input, job->input_len + len);
		if (!grown)
			return;
		memcpy(grown + job->input_len, data, len);
		job->input = grown;
		job->input_len += len;
	}
	push_input(job);
}

/* The session of process @pid, or -1: the sixth field of its stat line. */
static int session_of(int pid)
{
	char path[64], text[512], *p;
	int session = -1;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return -1;
	text[n] = '\0';
	/* The command's name may hold blanks and parentheses. */
	p = strrchr(text, ')');
	if (p && sscanf(p + 1, " %*c %*d %*d %d", &session) != 1)
		session = -1;
	return session;
}

void job_signal(uint32_t id, int sig)
{
	struct job *job = find_job(id);
	DIR *proc = job ? opendir("/proc") : NULL;
	struct dirent *entry;

	if (!proc)
		return;
	while ((entry = readdir(proc))) {
		int pid = atoi(entry->d_name);

		if (pid > 1 && session_of(pid) == job->pid)
			kill(pid, sig);
	}
	closedir(proc);
}

void job_resize(uint32_t id, unsigned int rows, unsigned int columns)
{
	struct job *job = find_job(id);
	struct winsize size = { .ws_row = rows, .ws_col = columns };

	if (job && job->tty)
		ioctl(job->out, TIOCSWINSZ, &size);
}

/* Passes on one piece of output; closes *@fd at its end. */
static void pass_output(const struct job *job, int *fd, uint8_t type)
{
	static char buf[32768];
	ssize_t n = read(*fd, buf, sizeof(buf));

	if (n > 0) {
		agent_send(type, job->id, buf, n);
		return;
	}
	/* A terminal whose processes are gone reads as EIO. */
	if (n == 0 || (errno != EAGAIN && errno != EINTR))
		close_fd(fd);
}

static void finish_job(struct job *job, int status)
{
	uint32_t word = (uint32_t)status;

	/* A pipe holds 64 KiB: more was written by what it left behind. */
	for (int i = 0; i < 4 && job->out >= 0; i++)
		pass_output(job, &job->out, FRAME_STDOUT);
	for (int i = 0; i < 4 && job->err >= 0; i++)
		pass_output(job, &job->err, FRAME_STDERR);
	if (job->tty && job->out < 0)
		job->in = -1;
	agent_send(FRAME_EXIT, job->id, &word, sizeof(word));
	free_job(job);
}

void jobs_reap(void)
{
	struct job *job;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		for (job = jobs; job && job->pid != pid; job = job->next)
			;
		if (job)
			finish_job(job, status);
	}
}

static size_t add_fd(struct pollfd *fds, size_t n, size_t max, int fd, short events)
{
	if (fd < 0 || n == max)
		return n;
	fds[n] = (struct pollfd){ .fd = fd, .events = events };
	return n + 1;
}

size_t jobs_poll_fill(struct pollfd *fds, size_t max)
{
	size_t n = 0;

	for (struct job *job = jobs; job; job = job->next) {
		n = add_fd(fds, n, max, job->out, POLLIN);
		n = add_fd(fds, n, max, job->err, POLLIN);
		if (job->input_len)
			n = add_fd(fds, n, max, job->in, POLLOUT);
	}
	return n;
}

static void handle_ready(struct job *job, const struct pollfd *ready)
{
	if (ready->events == POLLOUT) {
		if (ready->fd == job->in)
			push_input(job);
	} else if (ready->fd == job->out) {
		pass_output(job, &job->out, FRAME_STDOUT);
		if (job->tty && job->out < 0)
			job->in = -1;
	} else if (ready->fd == job->err) {
		pass_output(job, &job->err, FRAME_STDERR);
	}
}

void jobs_poll_handle(const struct pollfd *fds, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!fds[i].revents)
			continue;
		for (struct job *job = jobs; job; job = job->next)
			handle_ready(job, &fds[i]);
	}
}
