//! `ppgn devices` and `--device`, in a build without GPU support: what is there is said, and what is not is refused.

use crate::run::{line, ppgn};

#[test]
fn a_build_without_gpu_support_says_how_to_get_one() {
    let text = line("devices").ok().out;
    assert!(text.contains("cpu") && text.contains("--features wgpu") && text.ends_with("\n"), "{text}");
    let v = line("devices --json").ok().json();
    assert!(v["cpu"]["cores"].as_u64().unwrap() > 0);
    assert_eq!((&v["built_with"], &v["gpus"]), (&serde_json::json!([]), &serde_json::json!([])));
    for command in ["train csl --device gpu", "cv csl --device gpu:1", "bench step --device gpu"] {
        let error = line(command).fails(2, "without GPU support");
        assert!(error.err.contains("--features wgpu"), "{}", error.err);
    }
    line("train csl --device tpu").fails(2, "choose cpu, gpu");
}

#[test]
fn auto_takes_the_cpu_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let data = "csl:n=11,skips=2+3,copies=4";
    let run = ppgn(["train", data, "--epochs", "1", "--device", "auto", "--out", out.to_str().unwrap()]).ok();
    assert!(run.err.contains("computing on the CPU"), "{}", run.err);
    let v = line("bench step --nodes 4 --batch 1 --features 4 --steps 1 --json").ok().json();
    assert_eq!(v["device"], serde_json::Value::Null);
}
