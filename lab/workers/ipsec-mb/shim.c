/* A narrow door to ipsec-mb: one call processes all messages, with jobs, with bursts or with the direct
 * functions. The library checks no tag; the comparison here stands for the caller's. */
#include <intel-ipsec-mb.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct key {
    DECLARE_ALIGNED(uint32_t encrypt[15 * 4], 16);
    DECLARE_ALIGNED(uint32_t decrypt[15 * 4], 16);
    DECLARE_ALIGNED(uint32_t subkeys[2][4], 16);
    DECLARE_ALIGNED(struct gcm_key_data gcm, 64);
    DECLARE_ALIGNED(struct gcm_key_data ghash, 64);
    DECLARE_ALIGNED(uint8_t hmac[2][32], 16); /* the states behind the key, inner and outer */
    DECLARE_ALIGNED(uint8_t bytes[32], 16);
};

/* As in main.rs. Hashes have a prefix, since older headers have macros of their names. */
enum mode { ECB_ENCRYPT, ECB_DECRYPT, CTR, CBC_ENCRYPT, CBC_DECRYPT, CBCS_ENCRYPT, CBCS_DECRYPT,
            CMAC, GMAC, GHASH, GCM_SEAL, GCM_OPEN, GCM_REJECT, CCM_SEAL, CCM_OPEN, CRC_32,
            OF_SHA_1, OF_SHA_256, OF_SHA_512, OF_SM3, OF_HMAC_SHA_256,
            CHACHA_SEAL, CHACHA_OPEN, RECORD_SHA_1, RECORD_SHA_256 };
enum path { JOBS, BURST, DIRECT };

struct request {
    enum mode mode;
    enum path path;
    const struct key *keys;
    size_t keys_count, key_bytes, messages, aad_length;
    const size_t *lengths;
    const uint8_t *aad;
    uint8_t *const *input, *const *output;
    const uint8_t (*nonces)[32];
    uint8_t (*tags)[16];
};

static IMB_MGR *manager;

const char *lab_start(void) {
    manager = alloc_mb_mgr(0);
    if (manager == NULL) return NULL;
    init_mb_mgr_auto(manager, NULL);
    return imb_get_version_str();
}

static void expand(struct key *key, const uint8_t *bytes, size_t count) {
    switch (count) {
    case 16: IMB_AES_KEYEXP_128(manager, bytes, key->encrypt, key->decrypt); break;
    case 24: IMB_AES_KEYEXP_192(manager, bytes, key->encrypt, key->decrypt); break;
    default: IMB_AES_KEYEXP_256(manager, bytes, key->encrypt, key->decrypt); break;
    }
}

/* One call of key expansion. */
void lab_expand(const uint8_t *bytes, size_t count) {
    static struct key key;
    expand(&key, bytes, count);
}

/* One set-up of a key for GCM, expansion included. */
void lab_gcm_key(const uint8_t *bytes, size_t count) {
    static struct key key;
    switch (count) {
    case 16: IMB_AES128_GCM_PRE(manager, bytes, &key.gcm); break;
    case 24: IMB_AES192_GCM_PRE(manager, bytes, &key.gcm); break;
    default: IMB_AES256_GCM_PRE(manager, bytes, &key.gcm); break;
    }
}

/* The states behind the key of an HMAC, by the function of one block. */
static void hmac_states(struct key *key, const uint8_t *bytes, size_t count, int sha_1) {
    for (int outer = 0; outer < 2; outer++) {
        uint8_t block[64];
        memset(block, outer ? 0x5c : 0x36, sizeof block);
        for (size_t j = 0; j < count; j++) block[j] ^= bytes[j];
        if (sha_1) IMB_SHA1_ONE_BLOCK(manager, block, key->hmac[outer]);
        else IMB_SHA256_ONE_BLOCK(manager, block, key->hmac[outer]);
    }
}

/* Everything that can be computed from a key beforehand; never freed. Behind a key of `count` bytes is one of `mac`
 * bytes, as long as the digest: none, but for records. */
const struct key *lab_keys(const uint8_t *const *bytes, size_t keys, size_t count, size_t mac) {
    struct key *all = aligned_alloc(64, keys * sizeof *all);
    for (size_t i = 0; i < keys; i++) {
        expand(&all[i], bytes[i], count);
        memcpy(all[i].bytes, bytes[i], count);
        switch (count) {
        case 16:
            IMB_AES_CMAC_SUBKEY_GEN_128(manager, all[i].encrypt, all[i].subkeys[0], all[i].subkeys[1]);
            IMB_AES128_GCM_PRE(manager, bytes[i], &all[i].gcm);
            IMB_GHASH_PRE(manager, bytes[i], &all[i].ghash);
            break;
        case 24: IMB_AES192_GCM_PRE(manager, bytes[i], &all[i].gcm); break;
        default:
            IMB_AES_CMAC_SUBKEY_GEN_256(manager, all[i].encrypt, all[i].subkeys[0], all[i].subkeys[1]);
            IMB_AES256_GCM_PRE(manager, bytes[i], &all[i].gcm);
            hmac_states(&all[i], bytes[i], count, 0);
            break;
        }
        if (mac != 0) hmac_states(&all[i], bytes[i] + count, mac, mac == 20);
    }
    return all;
}

static uint8_t opened[1024][16]; /* tags that opening computed */

static uint8_t digests[1024][64];

static inline int is_hash(enum mode mode) { return mode >= OF_SHA_1 && mode <= OF_SM3; }

/* The digest of a message. */
static inline void fill_hash(IMB_JOB *job, const struct request *r, size_t i) {
    job->cipher_mode = IMB_CIPHER_NULL;
    job->cipher_direction = IMB_DIR_ENCRYPT;
    job->chain_order = IMB_ORDER_HASH_CIPHER;
    job->src = r->input[i];
    job->hash_start_src_offset_in_bytes = 0;
    job->msg_len_to_hash_in_bytes = r->lengths[i];
    job->auth_tag_output = digests[i];
    job->auth_tag_output_len_in_bytes = 32;
    switch (r->mode) {
    case OF_SHA_1: job->hash_alg = IMB_AUTH_SHA_1; job->auth_tag_output_len_in_bytes = 20; return;
    case OF_SHA_512: job->hash_alg = IMB_AUTH_SHA_512; job->auth_tag_output_len_in_bytes = 64; return;
#ifdef IMB_SM3_DIGEST_SIZE
    case OF_SM3: job->hash_alg = IMB_AUTH_SM3; return;
#endif
    default: job->hash_alg = IMB_AUTH_SHA_256; return;
    }
}

static inline int is_record(enum mode mode) { return mode == RECORD_SHA_1 || mode == RECORD_SHA_256; }

static inline const struct key *key_of(const struct request *r, size_t i) {
    return &r->keys[r->keys_count == 1 ? 0 : i];
}

/* A record of TLS, a chained job: the hash of header and content, whose result stands behind the content, then the
 * cipher. The header is where the IV will be. */
static inline void fill_record(IMB_JOB *job, const struct request *r, size_t i) {
    const struct key *key = key_of(r, i);
    uint8_t *fragment = r->output[i];
    size_t length = r->lengths[i], mac = r->mode == RECORD_SHA_1 ? 20 : 32;
    size_t padded = (length + mac + 16) & ~(size_t)15, padding = padded - length - mac;
    for (int j = 0; j < 8; j++) fragment[3 + j] = (uint8_t)((uint64_t)i >> (56 - 8 * j));
    fragment[11] = 23;
    fragment[12] = fragment[13] = 3;
    fragment[14] = (uint8_t)(length >> 8);
    fragment[15] = (uint8_t)length;
    memset(fragment + 16 + length + mac, (int)padding - 1, padding);
    job->cipher_mode = IMB_CIPHER_CBC;
    job->cipher_direction = IMB_DIR_ENCRYPT;
    job->chain_order = IMB_ORDER_HASH_CIPHER;
    job->hash_alg = r->mode == RECORD_SHA_1 ? IMB_AUTH_HMAC_SHA_1 : IMB_AUTH_HMAC_SHA_256;
    job->enc_keys = key->encrypt;
    job->dec_keys = key->decrypt;
    job->key_len_in_bytes = r->key_bytes;
    job->src = fragment;
    job->dst = fragment + 16;
    job->cipher_start_src_offset_in_bytes = 16;
    job->msg_len_to_cipher_in_bytes = padded;
    job->hash_start_src_offset_in_bytes = 3;
    job->msg_len_to_hash_in_bytes = 13 + length;
    job->iv = r->nonces[i];
    job->iv_len_in_bytes = 16;
    job->auth_tag_output = fragment + 16 + length;
    job->auth_tag_output_len_in_bytes = mac;
    job->u.HMAC._hashed_auth_key_xor_ipad = key->hmac[0];
    job->u.HMAC._hashed_auth_key_xor_opad = key->hmac[1];
}

/* Ciphers work in place, opening and MACs read the input. */
static inline void fill(IMB_JOB *job, const struct request *r, size_t i, int opens) {
    static uint8_t next_iv[16], zero[16];
    static const IMB_CIPHER_MODE ciphers[] = {
        IMB_CIPHER_ECB, IMB_CIPHER_ECB, IMB_CIPHER_CNTR, IMB_CIPHER_CBC, IMB_CIPHER_CBC,
        IMB_CIPHER_CBCS_1_9, IMB_CIPHER_CBCS_1_9, IMB_CIPHER_NULL, IMB_CIPHER_NULL, IMB_CIPHER_NULL,
        IMB_CIPHER_GCM, IMB_CIPHER_GCM, IMB_CIPHER_GCM, IMB_CIPHER_CCM, IMB_CIPHER_CCM,
        [OF_HMAC_SHA_256] = IMB_CIPHER_NULL,
        [CHACHA_SEAL] = IMB_CIPHER_CHACHA20_POLY1305, [CHACHA_OPEN] = IMB_CIPHER_CHACHA20_POLY1305 };
    if (is_hash(r->mode)) {
        fill_hash(job, r, i);
        return;
    }
    if (is_record(r->mode)) {
        fill_record(job, r, i);
        return;
    }
    const struct key *key = key_of(r, i);
    int decrypts = opens || r->mode == ECB_DECRYPT || r->mode == CBC_DECRYPT || r->mode == CBCS_DECRYPT;
    job->cipher_mode = ciphers[r->mode];
    job->cipher_direction = decrypts ? IMB_DIR_DECRYPT : IMB_DIR_ENCRYPT;
    job->chain_order = IMB_ORDER_CIPHER_HASH;
    job->hash_alg = IMB_AUTH_NULL;
    job->enc_keys = key->encrypt;
    job->dec_keys = key->decrypt;
    job->key_len_in_bytes = r->key_bytes;
    job->src = r->output[i];
    job->dst = r->output[i];
    job->cipher_start_src_offset_in_bytes = 0;
    job->msg_len_to_cipher_in_bytes = r->lengths[i];
    job->iv = r->nonces[i];
    job->iv_len_in_bytes = 16;
    switch (r->mode) {
    case ECB_ENCRYPT: case ECB_DECRYPT: job->iv_len_in_bytes = 0; return;
    case CBCS_ENCRYPT: case CBCS_DECRYPT: job->cipher_fields.CBCS.next_iv = next_iv; return;
    case CTR: case CBC_ENCRYPT: case CBC_DECRYPT: return;
    default: break;
    }
    job->src = r->input[i];
    job->hash_start_src_offset_in_bytes = 0;
    job->msg_len_to_hash_in_bytes = r->lengths[i];
    job->auth_tag_output = opens ? opened[i] : r->tags[i];
    job->auth_tag_output_len_in_bytes = 16;
    switch (r->mode) {
    case CMAC:
        job->hash_alg = r->key_bytes == 16 ? IMB_AUTH_AES_CMAC : IMB_AUTH_AES_CMAC_256;
        job->u.CMAC._key_expanded = key->encrypt;
        job->u.CMAC._skey1 = key->subkeys[0];
        job->u.CMAC._skey2 = key->subkeys[1];
        break;
    case OF_HMAC_SHA_256:
        job->hash_alg = IMB_AUTH_HMAC_SHA_256;
        job->chain_order = IMB_ORDER_HASH_CIPHER;
        job->u.HMAC._hashed_auth_key_xor_ipad = key->hmac[0];
        job->u.HMAC._hashed_auth_key_xor_opad = key->hmac[1];
        break;
    case GMAC:
        job->hash_alg = r->key_bytes == 16   ? IMB_AUTH_AES_GMAC_128
                        : r->key_bytes == 24 ? IMB_AUTH_AES_GMAC_192
                                             : IMB_AUTH_AES_GMAC_256;
        job->u.GMAC._key = &key->gcm;
        job->u.GMAC._iv = r->nonces[i];
        job->u.GMAC.iv_len_in_bytes = 12;
        break;
    case GHASH:
        job->hash_alg = IMB_AUTH_GHASH;
        job->u.GHASH._key = &key->ghash;
        job->u.GHASH._init_tag = zero;
        break;
    case GCM_SEAL: case GCM_OPEN: case GCM_REJECT:
        if (!opens) job->src = r->output[i];
        job->hash_alg = IMB_AUTH_AES_GMAC;
        job->chain_order = opens ? IMB_ORDER_HASH_CIPHER : IMB_ORDER_CIPHER_HASH;
        job->enc_keys = job->dec_keys = &key->gcm;
        job->iv_len_in_bytes = 12;
        job->u.GCM.aad = r->aad;
        job->u.GCM.aad_len_in_bytes = r->aad_length;
        break;
    case CHACHA_SEAL: case CHACHA_OPEN:
        if (!opens) job->src = r->output[i];
        job->hash_alg = IMB_AUTH_CHACHA20_POLY1305;
        job->chain_order = opens ? IMB_ORDER_HASH_CIPHER : IMB_ORDER_CIPHER_HASH;
        job->enc_keys = job->dec_keys = key->bytes;
        job->iv_len_in_bytes = 12;
        job->u.CHACHA20_POLY1305.aad = r->aad;
        job->u.CHACHA20_POLY1305.aad_len_in_bytes = r->aad_length;
        break;
    case CCM_SEAL: case CCM_OPEN:
        if (!opens) job->src = r->output[i];
        job->hash_alg = IMB_AUTH_AES_CCM;
        job->chain_order = opens ? IMB_ORDER_CIPHER_HASH : IMB_ORDER_HASH_CIPHER;
        job->iv_len_in_bytes = 13;
        job->u.CCM.aad = r->aad;
        job->u.CCM.aad_len_in_bytes = r->aad_length;
        break;
    default: break;
    }
}

static size_t run_jobs(const struct request *r, int opens, int check) {
    size_t done = 0;
    for (size_t i = 0; i < r->messages; i++) {
        IMB_JOB *job = IMB_GET_NEXT_JOB(manager);
        fill(job, r, i, opens);
        job = check ? IMB_SUBMIT_JOB(manager) : IMB_SUBMIT_JOB_NOCHECK(manager);
        for (; job != NULL; job = IMB_GET_COMPLETED_JOB(manager)) done += job->status == IMB_STATUS_COMPLETED;
    }
    for (IMB_JOB *job; (job = IMB_FLUSH_JOB(manager)) != NULL;) done += job->status == IMB_STATUS_COMPLETED;
    return done;
}

static size_t run_burst(const struct request *r, int opens, int check) {
    static IMB_JOB jobs[IMB_MAX_BURST_SIZE];
    if (r->messages > IMB_MAX_BURST_SIZE) return 0;
    for (size_t i = 0; i < r->messages; i++) fill(&jobs[i], r, i, opens);
    IMB_CIPHER_MODE cipher = jobs[0].cipher_mode;
    IMB_CIPHER_DIRECTION direction = jobs[0].cipher_direction;
    uint32_t count = (uint32_t)r->messages;
    IMB_KEY_SIZE_BYTES size = (IMB_KEY_SIZE_BYTES)r->key_bytes;
    switch (r->mode) {
    case ECB_ENCRYPT: case ECB_DECRYPT: case CTR: case CBC_ENCRYPT: case CBC_DECRYPT:
        return check ? IMB_SUBMIT_CIPHER_BURST(manager, jobs, count, cipher, direction, size)
                     : IMB_SUBMIT_CIPHER_BURST_NOCHECK(manager, jobs, count, cipher, direction, size);
    case CMAC: case OF_SHA_1: case OF_SHA_256: case OF_SHA_512: case OF_SM3: case OF_HMAC_SHA_256:
        return check ? IMB_SUBMIT_HASH_BURST(manager, jobs, count, jobs[0].hash_alg)
                     : IMB_SUBMIT_HASH_BURST_NOCHECK(manager, jobs, count, jobs[0].hash_alg);
#ifdef IMB_SUBMIT_AEAD_BURST
    case CCM_SEAL: case CCM_OPEN:
        return check ? IMB_SUBMIT_AEAD_BURST(manager, jobs, count, cipher, direction, size)
                     : IMB_SUBMIT_AEAD_BURST_NOCHECK(manager, jobs, count, cipher, direction, size);
#endif
    default: return 0;
    }
}

#define EACH(CALL) do { for (size_t i = 0; i < r->messages; i++) { CALL; } return r->messages; } while (0)
#define GCM_EACH(FUNCTION, SOURCE, TAGS) \
    EACH(FUNCTION(manager, &key_of(r, i)->gcm, &context, r->output[i], SOURCE[i], r->lengths[i], r->nonces[i], r->aad, r->aad_length, TAGS[i], 16))

static size_t run_direct(const struct request *r, int opens) {
    static struct gcm_context_data context;
    switch (r->mode) {
    case GCM_SEAL: case GCM_OPEN: case GCM_REJECT:
        if (opens) {
            if (r->key_bytes == 16) GCM_EACH(IMB_AES128_GCM_DEC, r->input, opened);
            if (r->key_bytes == 24) GCM_EACH(IMB_AES192_GCM_DEC, r->input, opened);
            GCM_EACH(IMB_AES256_GCM_DEC, r->input, opened);
        }
        if (r->key_bytes == 16) GCM_EACH(IMB_AES128_GCM_ENC, r->output, r->tags);
        if (r->key_bytes == 24) GCM_EACH(IMB_AES192_GCM_ENC, r->output, r->tags);
        GCM_EACH(IMB_AES256_GCM_ENC, r->output, r->tags);
    case GHASH:
        EACH(memset(r->tags[i], 0, 16);
             IMB_GHASH(manager, &key_of(r, i)->ghash, r->input[i], r->lengths[i], r->tags[i], 16));
    case CRC_32:
        EACH(uint32_t crc = IMB_CRC32_ETHERNET_FCS(manager, r->input[i], r->lengths[i]); memcpy(r->tags[i], &crc, 4));
    case OF_SHA_1: EACH(IMB_SHA1(manager, r->input[i], r->lengths[i], digests[i]));
    case OF_SHA_256: EACH(IMB_SHA256(manager, r->input[i], r->lengths[i], digests[i]));
    case OF_SHA_512: EACH(IMB_SHA512(manager, r->input[i], r->lengths[i], digests[i]));
    default: return 0;
    }
}

/* Processes all messages; gives how many were. With `check`, by the functions that check their arguments. */
size_t lab_run(const struct request *r, int check) {
    int opens = r->mode == GCM_OPEN || r->mode == GCM_REJECT || r->mode == CCM_OPEN || r->mode == CHACHA_OPEN;
#ifndef IMB_SM3_DIGEST_SIZE
    if (r->mode == OF_SM3) return 0;
#endif
    if (is_hash(r->mode) && r->messages > sizeof digests / sizeof digests[0]) return 0;
    if (opens && r->messages > sizeof opened / sizeof opened[0]) return 0;
    size_t done = r->path == JOBS && r->mode != CRC_32 ? run_jobs(r, opens, check)
                  : r->path == BURST                  ? run_burst(r, opens, check)
                  : r->path == DIRECT                 ? run_direct(r, opens)
                                                      : 0;
    if (is_hash(r->mode)) {
        for (size_t i = 0; i < done; i++) memcpy(r->tags[i], digests[i], 16);
    }
    if (is_record(r->mode)) {
        for (size_t i = 0; i < done; i++) memcpy(r->output[i], r->nonces[i], 16);
    }
    if (r->mode == GCM_REJECT) {
        /* What was not authentic is not for the caller: Lanelock wipes it as well. */
        for (size_t i = 0; i < done; i++) {
            if (memcmp(opened[i], r->tags[i], 16) == 0) return 0;
            memset(r->output[i], 0, r->lengths[i]);
        }
    } else if (opens && memcmp(opened, r->tags, done * 16) != 0) {
        return 0;
    }
    return done;
}
