namespace Net.Zlink.Interop.Tests.Native;

/// <summary>What was read of an option, as text.</summary>
internal static class OptionText
{
    public static string Of(ReadOnlySpan<byte> value) => $"{value.Length}: {Convert.ToHexStringLower(value)}";

    public static string Of(int error) => $"error {error}";
}
