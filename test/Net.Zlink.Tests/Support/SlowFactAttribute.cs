using System.Runtime.CompilerServices;
using Xunit;

namespace Net.Zlink.Tests.Support;

/// <summary>A fact among the <see cref="SlowTests"/>.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class SlowFactAttribute : FactAttribute
{
    public SlowFactAttribute([CallerFilePath] string? file = null, [CallerLineNumber] int line = -1)
        : base(file, line) => Skip = SlowTests.AreOn ? null : SlowTests.Reason;
}
