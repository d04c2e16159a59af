/* SPDX-License-Identifier: MIT */
/* Kernels that stay on devices: finding, loading, and unloading from either end. */
#include "launch/image/resident.h"

struct tj_resident {
  tj_machine_residents *machine;
  tj_device_residents *device;
  uint32_t number;
  tj_rt_kernel *kernel;
  tj_resident_link of_machine, of_device;
};

/* --- lists --- */

static void add_to_machine(tj_resident *resident) {
  tj_resident **first = &resident->machine->first;
  resident->of_machine = (tj_resident_link){*first, first};
  if (*first != NULL)
    (*first)->of_machine.at = &resident->of_machine.next;
  *first = resident;
}

static void add_to_device(tj_resident *resident) {
  tj_resident **first = &resident->device->first;
  resident->of_device = (tj_resident_link){*first, first};
  if (*first != NULL)
    (*first)->of_device.at = &resident->of_device.next;
  *first = resident;
}

/* Out of both lists; both locks are held. */
static void take_out(tj_resident *resident) {
  *resident->of_machine.at = resident->of_machine.next;
  if (resident->of_machine.next != NULL)
    resident->of_machine.next->of_machine.at = resident->of_machine.at;
  *resident->of_device.at = resident->of_device.next;
  if (resident->of_device.next != NULL)
    resident->of_device.next->of_device.at = resident->of_device.at;
}

/* The device's lock is held. The machine code is there until its list is empty, which needs its lock to see. */
static void evict(tj_resident *resident) {
  tj_machine_residents *machine = resident->machine;
  tj_device_residents *device = resident->device;
  pthread_mutex_lock(&machine->lock);
  take_out(resident);
  tj_rt_unload(device->device, resident->kernel);
  device->allocator.release(device->allocator.user, resident);
  pthread_mutex_unlock(&machine->lock);
}

/* --- machine code --- */

void tj_machine_residents_open(tj_machine_residents *machine) {
  *machine = (tj_machine_residents){0};
  pthread_mutex_init(&machine->lock, NULL);
}

/* The device of some resident, which will not close before the visit ends; NULL: there is none left. */
static tj_device_residents *visit(tj_machine_residents *machine) {
  pthread_mutex_lock(&machine->lock);
  tj_device_residents *device = machine->first != NULL ? machine->first->device : NULL;
  if (device != NULL)
    atomic_fetch_add(&device->visitors, 1);
  pthread_mutex_unlock(&machine->lock);
  return device;
}

static tj_resident *find_of_machine(tj_device_residents *device, const tj_machine_residents *machine) {
  tj_resident *found = device->first;
  while (found != NULL && found->machine != machine)
    found = found->of_device.next;
  return found;
}

static void leave(tj_machine_residents *machine, tj_device_residents *device) {
  pthread_mutex_lock(&device->lock);
  for (tj_resident *found; (found = find_of_machine(device, machine)) != NULL;)
    evict(found);
  atomic_fetch_sub(&device->visitors, 1);
  pthread_cond_broadcast(&device->left);
  pthread_mutex_unlock(&device->lock);
}

void tj_machine_residents_close(tj_machine_residents *machine) {
  for (tj_device_residents *device; (device = visit(machine)) != NULL;)
    leave(machine, device);
  pthread_mutex_destroy(&machine->lock);
}

/* --- devices --- */

void tj_device_residents_open(tj_device_residents *device, tj_rt_device *rt, const tj_allocator *allocator) {
  *device = (tj_device_residents){.device = rt, .allocator = *allocator};
  pthread_mutex_init(&device->lock, NULL);
  pthread_cond_init(&device->left, NULL);
}

void tj_device_residents_close(tj_device_residents *device) {
  pthread_mutex_lock(&device->lock);
  while (device->first != NULL)
    evict(device->first);
  while (atomic_load(&device->visitors) > 0)
    pthread_cond_wait(&device->left, &device->lock);
  pthread_mutex_unlock(&device->lock);
  pthread_cond_destroy(&device->left);
  pthread_mutex_destroy(&device->lock);
}

/* --- kernels --- */

static tj_resident *find(tj_machine_residents *machine, const tj_device_residents *device, uint32_t number) {
  pthread_mutex_lock(&machine->lock);
  tj_resident *found = machine->first;
  while (found != NULL && (found->device != device || found->number != number))
    found = found->of_machine.next;
  pthread_mutex_unlock(&machine->lock);
  return found;
}

static void settle(tj_resident *resident) {
  pthread_mutex_lock(&resident->machine->lock);
  add_to_machine(resident);
  add_to_device(resident);
  pthread_mutex_unlock(&resident->machine->lock);
}

static tj_status load(tj_device_residents *device, const tj_rt_code *code, tj_resident **resident,
                      tj_rt_error *error) {
  tj_resident *made = device->allocator.allocate(device->allocator.user, sizeof *made);
  if (made == NULL)
    return tj_rt_failed(error, TJ_ERROR_MEMORY, TJ_OUT_OF_MEMORY, "out of memory");
  *made = (tj_resident){.device = device};
  tj_status status = tj_rt_load(device->device, code, &made->kernel, error);
  if (status == TJ_OK)
    *resident = made;
  else
    device->allocator.release(device->allocator.user, made);
  return status;
}

/* The device's lock is held all the time, so that no kernel is loaded twice. */
static tj_status find_or_load(tj_machine_residents *machine, tj_device_residents *device, uint32_t number,
                              const tj_rt_code *code, tj_resident **resident, tj_rt_error *error) {
  tj_status status = TJ_OK;
  pthread_mutex_lock(&device->lock);
  *resident = find(machine, device, number);
  if (*resident == NULL) {
    status = load(device, code, resident, error);
    if (status == TJ_OK) {
      (*resident)->machine = machine;
      (*resident)->number = number;
      settle(*resident);
    }
  }
  pthread_mutex_unlock(&device->lock);
  return status;
}

/* Whoever asks keeps both ends alive, so that what is found stays, also without the device's lock. */
tj_status tj_resident_kernel(tj_machine_residents *machine, tj_device_residents *device, uint32_t number,
                             const tj_rt_code *code, tj_rt_kernel **kernel, tj_rt_error *error) {
  tj_status status = TJ_OK;
  tj_resident *resident = find(machine, device, number);
  if (resident == NULL)
    status = find_or_load(machine, device, number, code, &resident, error);
  if (status == TJ_OK)
    *kernel = resident->kernel;
  return status;
}
