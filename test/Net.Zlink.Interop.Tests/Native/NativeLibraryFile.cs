namespace Net.Zlink.Interop.Tests.Native;

/// <summary>Which native library the tests use, if any.</summary>
internal static class NativeLibraryFile
{
    /// <summary>The environment variable that turns these tests on.</summary>
    public const string Variable = "ZLINK_NATIVE_LIBRARY";

    /// <summary>What a skipped test says.</summary>
    public const string HowToTurnOn =
        $"NOT TESTED: set {Variable} to the path of a native libzlink (libzlink.so, libzlink.dylib, zlink.dll) to run the interop tests";

    /// <summary>The path as given, or null.</summary>
    public static string? Path { get; } = Environment.GetEnvironmentVariable(Variable) is { Length: > 0 } path ? path : null;

    /// <summary>Whether a library is named. A name that cannot be loaded is a failure, not a skip.</summary>
    public static bool IsGiven => Path is not null;
}
