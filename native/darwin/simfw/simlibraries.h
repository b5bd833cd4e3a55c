// The functions of libraries that are found at run time.
#ifndef FULMEN_SIM_LIBRARIES_H
#define FULMEN_SIM_LIBRARIES_H

typedef struct {
	const char *library; // how the library's name ends
	const char *name;
	void *function;
} sim_symbol;

// Each table is ended by one without a name.
extern const sim_symbol sim_verbs_symbols[];
extern const sim_symbol sim_bridge_symbols[];
extern const sim_symbol sim_report_symbols[];
extern const sim_symbol sim_hid_symbols[];

#endif
