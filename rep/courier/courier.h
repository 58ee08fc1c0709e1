/* rep-courier: the program that moves a cell's bytes, one process a job. The driver starts it as it
 * starts a shim, kills it to cancel, and reads its answer; the rep itself parses no archive and
 * speaks to no file server.
 *
 *   rep-courier fetch --answer FILE --cache DIR --url-file FILE
 *                     URL to cache
 *   rep-courier place --answer FILE --cache DIR --digest D --user UID:GID --root DIR --to PATH
 *                     cache to a directory of a container, whose root is DIR
 *                     (--container DIR instead of --root: as the first process of the container
 *                     sees it whose directory DIR is, with the volumes that are mounted there)
 *   rep-courier place --answer FILE --cache DIR --digest D --user UID:GID --tree
 *                     cache to CACHE/trees/D/root, once for all containers
 *   rep-courier pack  --answer FILE --root DIR --from PATH --user UID:GID --out FILE
 *                     a container's file to a file
 *   rep-courier send  --answer FILE --file FILE --url-file FILE
 *                     a file to a URL
 *   rep-courier download ...
 *                     fetch and place in one: what a step of a container is started as
 *   rep-courier upload ...
 *                     pack and send in one, likewise
 *   rep-courier pull  --answer FILE --images DIR --name-file FILE --guid GUID --containers DIR
 *                     an image to layers
 *   rep-courier sweep --answer FILE --cache DIR
 *                     at a rep's start: removes what killed couriers left, and what is over the
 *                     bounds
 *
 * `rep-courier VERB --help` has all options and their defaults. URLs and cache keys hold secrets,
 * so they come in files (--url-file, --key-file: the first line), never as words of the command
 * line.
 *
 * Answers. --answer names a file that is written by rename at the very end, in the form of
 * answer.h; whoever starts the courier must be able to write in its directory. The exit status is
 * one of enum courier_exit. Without the file, or with another status, the courier was killed:
 * nothing is known, and the job may be begun anew; all jobs are idempotent. Standard error gets a
 * sentence when the command line is wrong, or when the answer itself cannot be written.
 *
 * Progress. To the descriptor --progress-fd it writes lines "BYTES TOTAL", about one a second while
 * bytes move; TOTAL is -1 as long as nobody knows. It never waits for the reader.
 *
 * Who does what. The process that was started opens files, keeps the cache and writes the answer. A
 * child of it touches what others made: it speaks to the server, or walks the archive. Started by
 * root, the child of fetch and send becomes --user (65534:65534); that of place and pack enters
 * the container by chroot and becomes --user. All are bound in memory, file size and descriptors
 * and gain no privileges; place and pack load no code, run no program and open no socket. The child
 * dies with its parent. Not started by root there is no chroot: place and pack stay below --root by
 * openat2(2), and run as who started them.
 *
 * An archive is read twice: judged to its end first, then written. So one that is hostile, cut or
 * too large leaves nothing. What can only be found while writing (a disk that is full, a kill)
 * leaves a part in the container's directory, where a second job goes over it; a tree comes whole
 * or not.
 *
 * The cache, --cache DIR:
 *   objects/sha256-HEX  contents, complete and durable. Last modified: last used
 *   trees/sha256-HEX/   root: unpacked, to be bound read-only; size: bytes. Likewise
 *   keys/HEX            by the sha256 of a cache key, or of a URL: cache_plan.h
 *   part/               what is under way; all that a killed courier leaves
 *   uses/NAME           by --for NAME: the trees that NAME uses, a digest a line; who started the
 *                       courier removes it when NAME has gone
 *   turns/N             of --at-once couriers that bring something; the others wait
 * Several couriers may use it at once; two with the same key, or the same tree, take turns. It has
 * at most --cache-bytes, and leaves a tenth of its file system free. A tree that a file in uses/
 * names is not removed. An object may go between fetch and place: then place gives
 * COURIER_NOT_CACHED, and the fetch is to be done again, as download does by itself.
 * Beside it only FILE.part of an --answer or --out may be left, which the next one overwrites.
 *
 * Images, --images DIR:
 *   store/, run/    of containers-storage; store/overlay/LAYER/diff is a layer's directory
 *   images/ID       what is known of an image (rep_image.proto). Last modified: last used
 *   tags/KEY        what a name, with its user and password, stood for, and when that was asked
 *   pins/GUID       the image that a container has, as long as there is CONTAINERS/GUID
 * A name that is a tag is asked for once a minute at most; when its registry is silent, the image
 * that is there is taken, and the answer's text says why. A digest is never asked for again. The
 * name comes in a file, with user and password on the lines below it; for the programs that pull
 * they stand in a file beside that one, of mode 0600, as long as the pull takes.
 *
 * What is not its business: which may run at all. */
#pragma once

enum courier_exit {
    COURIER_DONE = 0,
    COURIER_FAILED = 1,     /* the answer has the text */
    COURIER_USAGE = 2,      /* the command line is wrong: standard error has the text; no answer */
    COURIER_NOT_CACHED = 3, /* place: as COURIER_FAILED, and a fetch would help */
    COURIER_INSIDE = 4,     /* download, upload: as COURIER_FAILED, but at the container's side */
};
