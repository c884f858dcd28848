using System.Runtime.CompilerServices;
using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Interop.Tests.Support;

/// <summary>A test that needs the native library, and is skipped with one reason where none is named.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class NativeFactAttribute : FactAttribute
{
    public NativeFactAttribute([CallerFilePath] string? sourceFile = null, [CallerLineNumber] int sourceLine = -1)
        : base(sourceFile, sourceLine) => Skip = NativeLibraryFile.IsGiven ? null : NativeLibraryFile.HowToTurnOn;

    /// <summary>Whether the test, while it is skipped, has the reason as its name, because `dotnet test` prints of skipped tests the names
    /// only. One test does that.</summary>
    public bool SaysHowToTurnOn
    {
        get;
        init
        {
            field = value;
            DisplayName = value && !NativeLibraryFile.IsGiven ? NativeLibraryFile.HowToTurnOn : null;
        }
    }
}

/// <summary>As <see cref="NativeFactAttribute"/>, for rows of data. Without the library the rows are one skipped test, not one
/// each.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class NativeTheoryAttribute : TheoryAttribute
{
    public NativeTheoryAttribute([CallerFilePath] string? sourceFile = null, [CallerLineNumber] int sourceLine = -1)
        : base(sourceFile, sourceLine) => Skip = NativeLibraryFile.IsGiven ? null : NativeLibraryFile.HowToTurnOn;
}

/// <summary>A <see cref="NativeFactAttribute"/> that takes long, among the slow tests.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class SlowNativeFactAttribute : FactAttribute
{
    public SlowNativeFactAttribute([CallerFilePath] string? sourceFile = null, [CallerLineNumber] int sourceLine = -1)
        : base(sourceFile, sourceLine) =>
        Skip = !NativeLibraryFile.IsGiven ? NativeLibraryFile.HowToTurnOn : SlowTests.AreOn ? null : SlowTests.Reason;
}
