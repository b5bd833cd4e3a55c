// What messages of the table do besides keeping properties.
#ifndef SIM_ACTS_H
#define SIM_ACTS_H

#include "sim.h"

typedef struct sim_call sim_call;

// An argument, and where the answer goes.
#define ARGUMENT(call, n, type) (*(type *)(call)->arguments[n])
#define ANSWER(call, type) (*(type *)(call)->result)

void act_alloc(sim_call *), act_new(sim_call *), act_init(sim_call *), act_frame(sim_call *), act_nothing(sim_call *), act_yes(sim_call *);
void act_length(sim_call *), act_each(sim_call *), act_of_key(sim_call *), act_url(sim_call *), act_reachable(sim_call *);
void act_rect(sim_call *), act_bool_of_key(sim_call *), act_set_bool(sim_call *), act_identifier(sim_call *), act_kept(sim_call *);
void act_application(sim_call *), act_run(sim_call *), act_windows(sim_call *), act_labelled(sim_call *);
void act_button(sim_call *), act_window(sim_call *), act_front(sim_call *), act_out(sim_call *), act_label(sim_call *), act_font(sim_call *);
void act_clear(sim_call *), act_copy(sim_call *), act_open(sim_call *);
void act_center(sim_call *), act_authorize(sim_call *), act_request(sim_call *), act_add(sim_call *);
void act_daemon(sim_call *), act_login(sim_call *), act_status(sim_call *), act_register(sim_call *), act_unregister(sim_call *), act_settings(sim_call *);

// sim_once is the one object of a class that has one.
id sim_once(const char *class);
// sim_error puts an NSError where a caller wants it.
void sim_error(void *where, const char *domain, long code, const char *text);
// sim_invoke gives the function of a block that is to be of a type.
IMP sim_invoke(id block, const char *types);

#endif
