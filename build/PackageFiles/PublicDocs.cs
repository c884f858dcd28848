using System.Xml.Linq;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;

namespace PackageFiles;

/// <summary>The XML docs of a library with the members that an application can see, and no others.</summary>
internal static class PublicDocs
{
    /// <returns>The exit code: 1 where a public member inherits its text from one that is taken out.</returns>
    public static int Keep(string docs, string assembly, IEnumerable<string> references)
    {
        Compilation application = CSharpCompilation.Create("Application",
            references: references.Append(assembly).Select(static path => MetadataReference.CreateFromFile(path)));
        bool IsVisible(string? id) => id is not null
            && DocumentationCommentId.GetFirstSymbolForDeclarationId(id, application) is { } symbol && IsVisibleSymbol(symbol);
        XDocument page = XDocument.Load(docs, LoadOptions.PreserveWhitespace);
        foreach (XElement member in page.Descendants("member").Where(one => !IsVisible((string?)one.Attribute("name"))).ToArray())
        {
            (member.PreviousNode as XText)?.Remove();
            member.Remove();
        }

        page.Save(docs, SaveOptions.DisableFormatting);
        string[] faults = [.. page.Descendants("inheritdoc").Select(static one => (string?)one.Attribute("cref"))
            .Where(id => id is not null && !IsVisible(id)).Distinct(StringComparer.Ordinal)
            .Select(id => $"{docs}: error : a public member inherits the text of {id}, which the package does not show")];
        Array.ForEach(faults, Console.Error.WriteLine);
        return faults.Length == 0 ? 0 : 1;
    }

    private static bool IsVisibleSymbol(ISymbol symbol) => symbol is INamespaceSymbol || (IsVisibleSymbol(symbol.ContainingSymbol)
        && symbol.DeclaredAccessibility is Accessibility.Public or Accessibility.Protected or Accessibility.ProtectedOrInternal);
}
