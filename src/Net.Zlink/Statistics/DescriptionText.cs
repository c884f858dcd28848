namespace Net.Zlink;

internal static class DescriptionText
{
    public static string Ago(TimeSpan? time) =>
        time is { } since ? FormattableString.Invariant($"{since.TotalMilliseconds:0} ms ago") : "never";

    public static string Quoted(string text) => text.Length == 0 ? "-" : text;
}
