using System.Runtime.CompilerServices;
using Xunit;

namespace Net.Zlink.Tests.Support;

/// <summary>A theory among the <see cref="SlowTests"/>, with all of its rows.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class SlowTheoryAttribute : TheoryAttribute
{
    public SlowTheoryAttribute([CallerFilePath] string? file = null, [CallerLineNumber] int line = -1)
        : base(file, line) => Skip = SlowTests.AreOn ? null : SlowTests.Reason;
}
