/* A narrow door to the multi-buffer hashes of isa-l_crypto: one call hashes all messages. */
#include <isa-l_crypto.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MOST 1024

/* A manager and a context for each message, which the library keeps between calls. The digest is in words, to be
 * stored from the highest byte on. */
#define HASH(name, NAME, word, swap)                                                                       \
    size_t lab_##name(const uint8_t *const *input, size_t length, size_t messages, uint8_t (*tags)[16]) {  \
        static ISAL_##NAME##_HASH_CTX_MGR *manager;                                                        \
        static ISAL_##NAME##_HASH_CTX *contexts;                                                           \
        if (messages > MOST || length > UINT32_MAX) return 0;                                              \
        if (manager == NULL) {                                                                             \
            manager = aligned_alloc(64, (sizeof *manager + 63) / 64 * 64);                                 \
            contexts = aligned_alloc(64, (MOST * sizeof *contexts + 63) / 64 * 64);                        \
            if (isal_##name##_ctx_mgr_init(manager) != 0) return 0;                                        \
        }                                                                                                  \
        ISAL_##NAME##_HASH_CTX *done;                                                                      \
        for (size_t i = 0; i < messages; i++) {                                                            \
            isal_hash_ctx_init(&contexts[i]);                                                              \
            if (isal_##name##_ctx_mgr_submit(manager, &contexts[i], &done, input[i], (uint32_t)length,     \
                                             ISAL_HASH_ENTIRE) != 0)                                       \
                return 0;                                                                                  \
        }                                                                                                  \
        do {                                                                                               \
            if (isal_##name##_ctx_mgr_flush(manager, &done) != 0) return 0;                                \
        } while (done != NULL);                                                                            \
        for (size_t i = 0; i < messages; i++) {                                                            \
            for (size_t j = 0; j < 16 / sizeof(word); j++) {                                               \
                word w = (word)swap(contexts[i].job.result_digest[j]);                                     \
                memcpy(tags[i] + j * sizeof w, &w, sizeof w);                                              \
            }                                                                                              \
        }                                                                                                  \
        return messages;                                                                                   \
    }

HASH(sha1, SHA1, uint32_t, __builtin_bswap32)
HASH(sha256, SHA256, uint32_t, __builtin_bswap32)
HASH(sha512, SHA512, uint64_t, __builtin_bswap64)
HASH(sm3, SM3, uint32_t, )
