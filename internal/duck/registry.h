#ifndef TARN_REGISTRY_H
#define TARN_REGISTRY_H

#include <pthread.h>
#include <stdint.h>

// tarn_entry begins what calls find by an id, in one block of memory that malloc gave.
typedef struct tarn_entry {
	struct tarn_entry *next; // among those that are registered
	int64_t id;
	int64_t users; // calls that look at it, and its registration
} tarn_entry;

// tarn_registry is all of one kind. Few are registered at a time.
typedef struct {
	pthread_mutex_t lock; // guards what follows and the users of all entries. It is held for moments only
	tarn_entry *registered;
	int64_t held;
} tarn_registry;

// tarn_register makes an entry known under an id that nothing of its kind has had before. What it begins no longer changes.
void tarn_register(tarn_registry *r, tarn_entry *e, int64_t id);

// tarn_forget ends that, if it was so. The memory is freed when no call looks at it any more.
void tarn_forget(tarn_registry *r, int64_t id);

// tarn_held returns how many entries are registered, or still looked at.
int64_t tarn_held(tarn_registry *r);

// tarn_take returns the entry of an id, for use until tarn_give, or NULL.
void *tarn_take(tarn_registry *r, int64_t id);
void tarn_give(tarn_registry *r, tarn_entry *e);

#endif
