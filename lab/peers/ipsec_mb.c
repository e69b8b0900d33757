/* A narrow door to Debian's libipsec-mb: encrypts many buffers in place, with its own scheduler. */
#include <intel-ipsec-mb.h>
#include <stddef.h>

static IMB_MGR *manager;
static DECLARE_ALIGNED(uint32_t encrypt_keys[15 * 4], 16);
static DECLARE_ALIGNED(uint32_t decrypt_keys[15 * 4], 16);

int lab_ipsec_mb_init(const uint8_t key[16]) {
    manager = alloc_mb_mgr(0);
    if (manager == NULL) return -1;
    init_mb_mgr_auto(manager, NULL);
    IMB_AES_KEYEXP_128(manager, key, encrypt_keys, decrypt_keys);
    return 0;
}

const char *lab_ipsec_mb_version(void) { return imb_get_version_str(); }

/* mode: 0 = CBC encrypt, 1 = CBCS 1:9 encrypt, 2 = CTR. Returns how many jobs were completed. */
int lab_ipsec_mb_run(int mode, uint8_t *const *data, size_t count, size_t length, const uint8_t iv[16]) {
    static uint8_t next_iv[16];
    int done = 0;
    for (size_t i = 0; i < count; i++) {
        IMB_JOB *job = IMB_GET_NEXT_JOB(manager);
        job->src = job->dst = data[i];
        job->cipher_start_src_offset_in_bytes = 0;
        job->msg_len_to_cipher_in_bytes = length;
        job->enc_keys = encrypt_keys;
        job->dec_keys = decrypt_keys;
        job->key_len_in_bytes = 16;
        job->iv = iv;
        job->iv_len_in_bytes = 16;
        job->cipher_direction = IMB_DIR_ENCRYPT;
        job->chain_order = IMB_ORDER_CIPHER_HASH;
        job->hash_alg = IMB_AUTH_NULL;
        job->cipher_mode = mode == 0 ? IMB_CIPHER_CBC : mode == 1 ? IMB_CIPHER_CBCS_1_9 : IMB_CIPHER_CNTR;
        job->cipher_fields.CBCS.next_iv = next_iv;
        for (job = IMB_SUBMIT_JOB(manager); job != NULL; job = IMB_GET_COMPLETED_JOB(manager))
            done += job->status == IMB_STATUS_COMPLETED;
    }
    for (IMB_JOB *job; (job = IMB_FLUSH_JOB(manager)) != NULL;) done += job->status == IMB_STATUS_COMPLETED;
    return done;
}
