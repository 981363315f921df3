#include "registry.h"

#include <stdlib.h>

void tarn_register(tarn_registry *r, tarn_entry *e, int64_t id) {
	pthread_mutex_lock(&r->lock);
	e->id = id;
	e->users = 1;
	e->next = r->registered;
	r->registered = e;
	r->held++;
	pthread_mutex_unlock(&r->lock);
}

// leave ends a use of e, and returns it if that was the last. The lock is held.
static tarn_entry *leave(tarn_registry *r, tarn_entry *e) {
	if (--e->users) return NULL;
	r->held--;
	return e;
}

void tarn_forget(tarn_registry *r, int64_t id) {
	tarn_entry *unused = NULL;
	pthread_mutex_lock(&r->lock);
	for (tarn_entry **at = &r->registered; *at; at = &(*at)->next) {
		if ((*at)->id != id) continue;
		tarn_entry *e = *at;
		*at = e->next;
		unused = leave(r, e);
		break;
	}
	pthread_mutex_unlock(&r->lock);
	free(unused);
}

int64_t tarn_held(tarn_registry *r) {
	pthread_mutex_lock(&r->lock);
	int64_t n = r->held;
	pthread_mutex_unlock(&r->lock);
	return n;
}

void *tarn_take(tarn_registry *r, int64_t id) {
	pthread_mutex_lock(&r->lock);
	tarn_entry *e = r->registered;
	while (e && e->id != id) e = e->next;
	if (e) e->users++;
	pthread_mutex_unlock(&r->lock);
	return e;
}

void tarn_give(tarn_registry *r, tarn_entry *e) {
	pthread_mutex_lock(&r->lock);
	tarn_entry *unused = leave(r, e);
	pthread_mutex_unlock(&r->lock);
	free(unused);
}
