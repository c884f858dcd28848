using Xunit;

namespace Net.Zlink.Tests.Support;

/// <summary>For tests that measure the whole process (memory, descriptors, pool threads): they run after the others, one at a
/// time.</summary>
[CollectionDefinition(Name, DisableParallelization = true)]
public sealed class Alone
{
    public const string Name = "alone in the process";
}
