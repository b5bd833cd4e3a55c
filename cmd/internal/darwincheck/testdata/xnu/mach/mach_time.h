// The clocks of macOS, of a Mac that has slept for half of its time, in which
// mach_absolute_time stood still. A tick is 125/3 ns, as on Apple silicon.
#include <stdint.h>
#include <time.h>

typedef struct {
	uint32_t numer, denom;
} mach_timebase_info_data_t;

static inline int mach_timebase_info(mach_timebase_info_data_t *into) {
	*into = (mach_timebase_info_data_t){125, 3};
	return 0;
}

static inline uint64_t mach_continuous_time(void) {
	struct timespec now;
	clock_gettime(CLOCK_BOOTTIME, &now);
	return ((uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec) / 125 * 3;
}

static inline uint64_t mach_absolute_time(void) { return mach_continuous_time() / 2; }
