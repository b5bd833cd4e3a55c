// What a notification port carries beside matching.
#ifndef FULMEN_SIM_PORTS_H
#define FULMEN_SIM_PORTS_H

#include "sim.h"

io_iterator_t sim_subscription_iterator(sim_subscription *s);
// sim_post_interest tells a callback on the port's run loop; the lock is held.
void sim_post_interest(IONotificationPortRef port, IOServiceInterestCallback callback, void *refcon, uint32_t type, void *argument);

#endif
