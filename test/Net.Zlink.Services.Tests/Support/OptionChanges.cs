namespace Net.Zlink.Services.Tests;

/// <summary>Options with changes, as one expression.</summary>
internal static class OptionChanges
{
    public static TOptions With<TOptions>(this TOptions options, Action<TOptions> change)
    {
        change(options);
        return options;
    }
}
