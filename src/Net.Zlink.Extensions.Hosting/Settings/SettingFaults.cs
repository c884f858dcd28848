namespace Net.Zlink.Extensions.Hosting;

internal static class SettingFaults
{
    public static ZlinkSettingException NoSetting(Setting setting, IEnumerable<string> keys) =>
        new($"{setting.Path} is not a setting. The settings there are: {string.Join(", ", keys)}.");

    public static ZlinkSettingException Wrong(Setting setting, Exception e) => new($"{setting.Path}: {SentenceOf(e)}", e);

    /// <summary>Names the section, if there is one: else code gave the value.</summary>
    public static T Named<T>(Setting section, Func<T> make)
    {
        try
        {
            return make();
        }
        catch (ArgumentException e) when (section.IsSet)
        {
            throw Wrong(section, e);
        }
    }

    /// <summary>What a check of a whole section says, with the key that its first word names.</summary>
    public static string SentenceOf(Setting section, ArgumentException e)
    {
        string sentence = SentenceOf(e);
        return section.IsSet ? $"{(section.Find(sentence.Split(' ', 2)[0]) ?? section).Path}: {sentence}" : sentence;
    }

    private static string SentenceOf(Exception e) => e.Message.Split(" (Parameter '", 2)[0].Split('\n', 2)[0].Trim();
}
