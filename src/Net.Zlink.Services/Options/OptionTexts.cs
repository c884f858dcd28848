using System.Runtime.CompilerServices;

namespace Net.Zlink.Services;

/// <summary>Checks for texts, beside <see cref="OptionRange"/> for numbers and times.</summary>
internal static class OptionTexts
{
    public static void OneOf(string value, string[] allowed, [CallerArgumentExpression(nameof(value))] string option = "")
    {
        if (!allowed.Contains(value, StringComparer.Ordinal))
        {
            throw new ArgumentException($"{option} takes {string.Join(", ", allowed)}, not \"{value}\".", option);
        }
    }

    public static void NotEmpty(string? value, string allowed, [CallerArgumentExpression(nameof(value))] string option = "")
    {
        if (string.IsNullOrEmpty(value))
        {
            throw new ArgumentException($"{option} is empty: {allowed}.", option);
        }
    }
}
