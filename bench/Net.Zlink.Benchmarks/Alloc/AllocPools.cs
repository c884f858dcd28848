using System.CommandLine;
using Net.Zlink.Buffers;

namespace Net.Zlink.Benchmarks.Alloc;

/// <summary>The pool of the measured process: with Default a part of the figures is the pool filling its reserve, Server has a deep one
/// from the start.</summary>
internal static class AllocPools
{
    public const string OptionName = "--pool";

    private const string Default = "default";
    private const string Server = "server";

    public static Option<string> CreateOption()
    {
        var pool = new Option<string>(OptionName)
        {
            Description = "The measured process's buffer pool, as Net.Zlink's presets.",
            DefaultValueFactory = _ => Server
        };
        pool.AcceptOnlyFromAmong(Default, Server);
        return pool;
    }

    public static ZlinkContext CreateContext(string pool) =>
        new(new ZlinkContextOptions
        {
            PoolOptions = string.Equals(pool, Server, StringComparison.Ordinal)
                ? new BufferPoolOptions { ClassPolicies = BufferPoolOptions.ServerPolicies } : new BufferPoolOptions()
        });
}
