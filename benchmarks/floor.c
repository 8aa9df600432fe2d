/* The floor of the fan-out, and the agents of the benchmarks that must cost nothing themselves.

     floor run N AT_ONCE PROGRAM ARGUMENT...   start N of them, at most AT_ONCE together, drain what they print;
                                               prints the seconds it took and the seconds of its own CPU
     floor agent SECONDS TEXT                  reads its input to the end, sleeps, prints TEXT
     floor flood MEGABYTES TEXT                prints so many megabytes of lines, then TEXT

   POSIX only. Compiled by floor.py when it is needed. */

#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <fcntl.h>

extern char **environ;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static double own_cpu(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_utime.tv_sec + u.ru_stime.tv_sec + (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static int run(int total, int at_once, char **argv)
{
    struct pollfd *slots = calloc(at_once, sizeof *slots);
    pid_t *pids = calloc(at_once, sizeof *pids);
    static char sink[1 << 16];
    int started = 0, alive = 0;
    double begun = now();

    for (int i = 0; i < at_once; i++)
        slots[i].fd = -1;
    while (started < total || alive > 0) {
        for (int i = 0; i < at_once && started < total; i++) {
            int ends[2];
            posix_spawn_file_actions_t actions;
            if (slots[i].fd >= 0)
                continue;
            if (pipe(ends) < 0)
                die("pipe");
            fcntl(ends[0], F_SETFD, FD_CLOEXEC);
            fcntl(ends[1], F_SETFD, FD_CLOEXEC);
            posix_spawn_file_actions_init(&actions);
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
            posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
            if (posix_spawn(&pids[i], argv[0], &actions, NULL, argv, environ) != 0)
                die("posix_spawn");
            posix_spawn_file_actions_destroy(&actions);
            close(ends[1]);
            slots[i].fd = ends[0];
            slots[i].events = POLLIN;
            started++;
            alive++;
        }
        if (poll(slots, at_once, -1) < 0)
            die("poll");
        for (int i = 0; i < at_once; i++) {
            if (slots[i].fd < 0 || !slots[i].revents)
                continue;
            if (read(slots[i].fd, sink, sizeof sink) > 0)
                continue;
            close(slots[i].fd);
            slots[i].fd = -1;
            waitpid(pids[i], NULL, 0);
            alive--;
        }
    }
    printf("%.6f %.6f\n", now() - begun, own_cpu());
    return 0;
}

static void write_all(const char *data, size_t size)
{
    while (size > 0) {
        ssize_t done = write(1, data, size);
        if (done < 0)
            die("write");
        data += done;
        size -= done;
    }
}

static int flood(long megabytes, const char *text)
{
    static char block[1 << 20];
    const char *line = "an agent prints what it does, as fast as it can, and this is one line of it\n";
    size_t length = strlen(line);
    for (size_t i = 0; i < sizeof block; i++)
        block[i] = line[i % length];
    block[sizeof block - 1] = '\n';
    for (long i = 0; i < megabytes; i++)
        write_all(block, sizeof block);
    write_all(text, strlen(text));
    return 0;
}

static int agent(double seconds, const char *text)
{
    static char sink[1 << 16];
    struct timespec pause = {(time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9)};
    while (read(0, sink, sizeof sink) > 0)
        ;
    nanosleep(&pause, NULL);
    write_all(text, strlen(text));
    return 0;
}

int main(int argc, char **argv)
{
    if (argc >= 5 && !strcmp(argv[1], "run"))
        return run(atoi(argv[2]), atoi(argv[3]), argv + 4);
    if (argc == 4 && !strcmp(argv[1], "agent"))
        return agent(atof(argv[2]), argv[3]);
    if (argc == 4 && !strcmp(argv[1], "flood"))
        return flood(atol(argv[2]), argv[3]);
    fprintf(stderr, "usage: see floor.c\n");
    return 2;
}
