#include "local/credential.h"
#include "tests/unit/unit.h"

/* wire A.4 */
static void test_ids_have_the_issued_form_and_differ(void **state)
{
    char a[CREDENTIAL_ID_LEN + 1];
    char b[CREDENTIAL_ID_LEN + 1];
    size_t own;

    (void)state;
    assert_true(credential_new_id(a));
    assert_true(credential_new_id(b));
    assert_int_equal(strlen(a), 21);
    assert_int_equal(a[0], 'i');
    assert_true(credential_id_shape(a, strlen(a), &own));
    assert_int_equal(own, 21);
    assert_string_not_equal(a, b);
}

/* wire A.4: an ignored suffix behind one dash is accepted */
static void test_id_shapes(void **state)
{
    static const struct {
        const char *text;
        size_t own; /* 0: refused */
    } cases[] = {
        {"iabc", 4},       {"iabc-6532622b", 4}, {"iabc-", 4}, {"a-b-c", 0},
        {"Iabc", 0},       {"i_abc", 0},         {"", 0},      {"-x", 0},
        {"../records", 0}, {"i%20", 0},
    };
    size_t own;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool good = credential_id_shape(cases[i].text, strlen(cases[i].text), &own);
        assert_int_equal(good, cases[i].own > 0);
        if (good)
            assert_int_equal(own, cases[i].own);
    }
}

/* wire A.3: the documented messages */
static void test_api_keys(void **state)
{
    char key[CREDENTIAL_KEY_LEN + 1];
    char other[CREDENTIAL_KEY_LEN + 1];

    (void)state;
    assert_true(credential_new_key(key));
    assert_true(credential_new_key(other));
    assert_int_equal(strlen(key), 44);
    assert_int_equal(strspn(key + 4, "0123456789abcdef"), 40);
    assert_null(credential_key_refusal(key, key));
    assert_string_equal(credential_key_refusal(NULL, key), "authorization header is missing");
    assert_string_equal(credential_key_refusal("sk-123", key), "authorization header is malformed");
    assert_int_equal(strncmp(credential_key_refusal(other, key), "Invalid API key", 15), 0);
    assert_non_null(credential_key_refusal("e2b_", key));
    assert_null(strstr(credential_key_refusal(other, key), key + 4));
}

/* wire A.6: a keyed hash of the id, the same each time */
static void test_tokens(void **state)
{
    unsigned char secret[CREDENTIAL_SECRET_SIZE] = {1, 2, 3};
    char a[CREDENTIAL_TOKEN_LEN + 1];
    char b[CREDENTIAL_TOKEN_LEN + 1];

    (void)state;
    credential_token(a, secret, "iabc");
    credential_token(b, secret, "iabc");
    assert_int_equal(strlen(a), 64);
    assert_true(credential_equal(a, b));
    credential_token(b, secret, "iabd");
    assert_false(credential_equal(a, b));
    secret[0] = 9;
    credential_token(b, secret, "iabc");
    assert_false(credential_equal(a, b));
    assert_false(credential_equal(a, ""));
    assert_false(credential_equal(NULL, a));
}

/* wire D.1: its check values */
static void test_signatures(void **state)
{
    const struct credential_file_access reading = {.path = "/a b"};
    const struct credential_file_access writing = {
        .path = "/a b", .username = "root", .expiration = "1796069750", .write = true};
    char text[CREDENTIAL_SIGNATURE_LEN + 1];

    (void)state;
    credential_signature(text, &reading, "tok123");
    assert_string_equal(text, "v1_NOfbI2O8KMH46vW0Lsqc7nnAWJ5rlwUjcGfkGoj1eZk");
    credential_signature(text, &writing, "tok123");
    assert_string_equal(text, "v1_qwxR/TEZ/j+vdO4Sc2GFIR2EUPIxODaK16yAVhdzpCI");
}

/* wire D.1: the header alone decides if it is there; the messages */
static void test_access_to_files(void **state)
{
    struct credential_file_access access = {.path = "/a b",
                                            .username = "root",
                                            .expiration = "1796069750",
                                            .signature =
                                                "v1_qwxR/TEZ/j+vdO4Sc2GFIR2EUPIxODaK16yAVhdzpCI",
                                            .write = true};

    (void)state;
    assert_null(credential_file_refusal(&access, NULL, "tok123", 1796069750));
    assert_string_equal(credential_file_refusal(&access, NULL, "tok123", 1796069751),
                        "signature is already expired");
    assert_string_equal(credential_file_refusal(&access, "wrong", "tok123", 0),
                        "access token present in header but does not match");
    access.write = false;
    assert_string_equal(credential_file_refusal(&access, NULL, "tok123", 0), "invalid signature");
    assert_null(credential_file_refusal(&access, "tok123", "tok123", 0));
    access.signature = NULL;
    assert_string_equal(credential_file_refusal(&access, NULL, "tok123", 0),
                        "missing signature query parameter");
}

/* An expiration that is no number is signed all the same, and has passed. */
static void test_broken_expiration(void **state)
{
    struct credential_file_access access = {.path = "/x", .expiration = "soon"};
    char text[CREDENTIAL_SIGNATURE_LEN + 1];

    (void)state;
    credential_signature(text, &access, "tok123");
    access.signature = text;
    assert_string_equal(credential_file_refusal(&access, NULL, "tok123", 0),
                        "signature is already expired");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ids_have_the_issued_form_and_differ),
        cmocka_unit_test(test_id_shapes),
        cmocka_unit_test(test_api_keys),
        cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_signatures),
        cmocka_unit_test(test_access_to_files),
        cmocka_unit_test(test_broken_expiration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
