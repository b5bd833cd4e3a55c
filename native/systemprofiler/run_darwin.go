package systemprofiler

// program is by its full path, so that nobody's PATH decides what runs.
const program = "/usr/sbin/system_profiler"
