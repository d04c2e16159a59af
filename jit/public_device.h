/* Devices behind the public header. */
#ifndef TJ_JIT_PUBLIC_DEVICE_H
#define TJ_JIT_PUBLIC_DEVICE_H

#include "rt/device.h"

struct tj_device {
  tj_allocator allocator; /* of the context that opened it */
  tj_rt_device *rt;
};

#endif
