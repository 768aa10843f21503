#include "he2b.h"

const char *he2b_version(void)
{
    return HE2B_VERSION;
}

const char *he2b_error_name(int error)
{
    switch (error) {
#define HE2B_X(name, value, text)                                                                  \
    case HE2B_##name:                                                                              \
        return "HE2B_" #name;
        HE2B_ERRORS(HE2B_X)
#undef HE2B_X
    default:
        return "HE2B_ERR_?";
    }
}

const char *he2b_strerror(int error)
{
    switch (error) {
#define HE2B_X(name, value, text)                                                                  \
    case HE2B_##name:                                                                              \
        return text;
        HE2B_ERRORS(HE2B_X)
#undef HE2B_X
    default:
        return "not an error of this library";
    }
}
